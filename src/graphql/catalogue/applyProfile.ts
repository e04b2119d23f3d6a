import { bounds } from '../../model/bounds.ts'
import { settingsWarnings } from '../../rules/service/settingsWarnings.ts'
import { portVariableIssues, probePortIssues } from '../../rules/version/mergedIssues.ts'
import type { ClusterOutcome, GivenContent } from '../../store/commit/outcome.ts'
import { contentFields, contentOf, contentWithDefaults } from '../content/contentFields.ts'
import { environmentField, environmentOf } from '../content/environmentInput.ts'
import { warningsDescription } from '../content/settings.ts'
import { ServiceDefaultsInput, settingsFaults, settingsWithDefaults } from '../content/settingsInput.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import { appliedOf, userMutation } from '../kit/mutation.ts'
import { rowType } from '../kit/rowType.ts'
import { checkCommand, nameField } from '../kit/values.ts'

const ApplyProfilePayload = builder
  .objectRef<Extract<ClusterOutcome, { kind: 'profile' }>>('ApplyProfilePayload')
  .implement({
    description: 'The profile was applied.',
    fields: (t) => ({
      profile: t.field({
        type: rowType('ProfileRevision'),
        description: 'The newest revision.',
        resolve: ({ profileRevisionId }, _args, { rows }) => rows.require('ProfileRevision', profileRevisionId),
      }),
      created: t.exposeBoolean('created', {
        description:
          'Whether this made a new revision. False when the newest revision had the same content and settings already.',
      }),
      warnings: t.stringList({
        description: warningsDescription,
        resolve: async ({ profileRevisionId: id }, _args, { app }) => {
          const { settings, content } = await app.database.prisma.profileRevision.findUniqueOrThrow({ where: { id } })
          return settingsWarnings(settings, content)
        },
      }),
    }),
  })

userMutation({
  name: 'applyProfile',
  description:
    'Makes a profile, or the next revision of it. Services keep the revision they have until they are updated. The same content and settings again make no new revision.',
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
    }),
    check: ({ env, serviceDefaults, name: _name, command: _command, ...own }) => {
      const content = contentWithDefaults(own)
      return [
        ...under('env', portVariableIssues(env ?? [], content.ports)),
        ...probePortIssues(content),
        ...under('serviceDefaults', settingsFaults(serviceDefaults, content)),
      ]
    },
  },
  payload: ApplyProfilePayload,
  errors: [],
  about: (input) => ({ profile: input.name }),
  perform: async (input, { app, viewer, remember }) => {
    const { name, command, env, serviceDefaults, ...others } = input
    const { given, rest } = contentOf(others)
    noneLeft(rest)
    const content: GivenContent = { command, env: environmentOf(env), ...contentWithDefaults(given) }
    const settings = settingsWithDefaults(serviceDefaults, content)
    const change = { kind: 'applyProfile', name, content, settings, actor: viewer.subject } as const
    return appliedOf('profile', await app.committer.write(change, remember(null)))
  },
})

function under(field: string, faults: readonly Fault[]): Fault[] {
  return faults.map(({ path = [], message }) => ({ path: [field, ...path], message }))
}
