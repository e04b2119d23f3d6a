import { contentFields, contentOf, ownContent } from '../content/contentFields.ts'
import { environmentField, environmentOf } from '../content/environmentInput.ts'
import { metadataFields, metadataOf } from '../content/metadata.ts'
import { ServiceDefaultsInput, settingsChangeOf } from '../content/settingsInput.ts'
import { noneLeft } from '../kit/check.ts'
import { appliedOf, userMutation } from '../kit/mutation.ts'
import { checkCommand } from '../kit/values.ts'
import { allowDroppingDescription } from './applyProfile.ts'
import { profilePayload } from './profilePayload.ts'

export const UpdateProfilePayload = profilePayload('UpdateProfilePayload', 'The profile was updated.')

userMutation({
  name: 'updateProfile',
  description:
    'Makes the next revision of a profile, which is the newest one with the given fields changed. Services keep the revision they have until they are updated. InvalidStateError when the newest revision is not the expected one, or when ports or probes of services would be dropped.',
  input: {
    description: 'A part of a profile. Omitted fields stay as they are, and null goes back to the default.',
    fields: (t) => ({
      name: t.string({ required: true, description: "The profile's name. NotFoundError when it does not exist." }),
      command: t.stringList({
        description: 'The program and its arguments, within the bounds of applyProfile; no shell.',
        check: checkCommand,
      }),
      env: t.field({
        ...environmentField,
        description:
          'All variables, each name once. A secret without a value keeps that of the newest revision. Null removes all of them.',
      }),
      ...contentFields(
        t,
        (byDefault) => `It stays as it is when it is left out; null goes back to the default: ${byDefault}.`,
      ),
      serviceDefaults: t.field({
        type: ServiceDefaultsInput,
        description: 'The settings of services that use this profile. Those that are left out stay as they are.',
      }),
      ...metadataFields(t, 'They stay as they are when they are left out, and null clears them.'),
      expectedRevision: t.int({
        description:
          'The number of the newest revision that you decided on. InvalidStateError when there is a newer one; nothing is compared when it is left out.',
      }),
      allowDropping: t.boolean({ defaultValue: false, description: allowDroppingDescription }),
    }),
  },
  payload: UpdateProfilePayload,
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  about: ({ name }) => ({ profile: name }),
  perform: async (input, { app, by, remember }) => {
    const { name, command, env, serviceDefaults, expectedRevision, allowDropping, ...others } = input
    const { metadata, rest: unnoted } = metadataOf(others)
    const { given, rest } = contentOf(unnoted)
    noneLeft(rest)
    const { replicas, ...groups } = serviceDefaults ?? {}
    const change = {
      ...ownContent(given),
      ...(command ? { command } : {}),
      ...(env === undefined ? {} : { env: env && environmentOf(env) }),
      settings: {
        ...settingsChangeOf(serviceDefaults === null ? null : groups),
        ...(serviceDefaults === null ? { replicas: null } : replicas === undefined ? {} : { replicas }),
      },
    }
    const write = {
      kind: 'updateProfile',
      name,
      change,
      metadata,
      expectedRevision: expectedRevision ?? null,
      allowDropping: allowDropping ?? false,
      ...by,
    } as const
    return appliedOf('profile', await app.committer.write(write, remember(null)))
  },
})
