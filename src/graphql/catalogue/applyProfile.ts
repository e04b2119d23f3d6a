import { bounds } from '../../model/bounds.ts'
import { noMetadata } from '../../model/metadata.ts'
import { portVariableIssues, probePortIssues } from '../../rules/version/mergedIssues.ts'
import type { GivenContent } from '../../store/commit/outcome.ts'
import { contentFields, contentOf, contentWithDefaults } from '../content/contentFields.ts'
import { environmentField, environmentOf } from '../content/environmentInput.ts'
import { metadataFields, metadataOf } from '../content/metadata.ts'
import { ServiceDefaultsInput, settingsFaults, settingsWithDefaults } from '../content/settingsInput.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import { appliedOf, userMutation } from '../kit/mutation.ts'
import { checkCommand, nameField } from '../kit/values.ts'
import { profilePayload } from './profilePayload.ts'

export const allowDroppingDescription =
  'Whether it may drop ports or probes although services use the profile. InvalidStateError names them where this is false.'

export const ApplyProfilePayload = profilePayload('ApplyProfilePayload', 'The profile was applied.')

userMutation({
  name: 'applyProfile',
  description:
    'Makes a profile, or the next revision of it. Services keep the revision they have until they are updated. The same content and settings again make no new revision, also where labels, annotations or the description differ. InvalidStateError when ports or probes of services would be dropped.',
  input: {
    description: 'A whole profile. Omitted fields get their default, not their former value.',
    fields: (t) => ({
      name: t.string(nameField),
      command: t.stringList({
        required: true,
        description: `The program and its arguments, ${bounds.commandWords.min} to ${bounds.commandWords.max} words of together at most ${bounds.commandBytes} bytes; no shell.`,
        check: checkCommand,
      }),
      env: t.field({
        ...environmentField,
        description: `At most ${bounds.variables.max} variables, each name once. HOME and TMPDIR are the replica's own directory where they are left out. A secret without a value keeps that of the newest revision.`,
      }),
      ...contentFields(t, (byDefault) => `When it is left out: ${byDefault}.`),
      serviceDefaults: t.field({
        type: ServiceDefaultsInput,
        description: 'The settings of services that use this profile.',
      }),
      ...metadataFields(t, 'There are none when they are left out.'),
      allowDropping: t.boolean({ defaultValue: false, description: allowDroppingDescription }),
    }),
    check: ({ env, serviceDefaults, ...others }) => {
      const { given: own } = contentOf(others)
      const content = contentWithDefaults(own)
      return [
        ...under('env', portVariableIssues(env ?? [], content.ports)),
        ...probePortIssues(content),
        ...under('serviceDefaults', settingsFaults(serviceDefaults, content)),
      ]
    },
  },
  payload: ApplyProfilePayload,
  errors: ['INVALID_STATE'],
  about: (input) => ({ profile: input.name }),
  perform: async (input, { app, by, remember }) => {
    const { name, command, env, serviceDefaults, allowDropping, ...others } = input
    const { metadata, rest: unnoted } = metadataOf(others)
    const { given, rest } = contentOf(unnoted)
    noneLeft(rest)
    const content: GivenContent = { command, env: environmentOf(env), ...contentWithDefaults(given) }
    const settings = settingsWithDefaults(serviceDefaults, content)
    const write = {
      name,
      content,
      settings,
      metadata: { ...noMetadata, ...metadata },
      allowDropping: allowDropping ?? false,
      ...by,
    }
    const change = { kind: 'applyProfile', ...write } as const
    return appliedOf('profile', await app.committer.write(change, remember(null)))
  },
})

function under(field: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ path = [], message }) => ({ path: [field, ...path], message }))
}
