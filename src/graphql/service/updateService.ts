import { bounds } from '../../model/bounds.ts'
import type { RolloutId } from '../../model/id.ts'
import { RolloutSettingsInput } from '../catalogue/profileInput.ts'
import { builder } from '../kit/builder.ts'
import { EnvironmentVariableInput, expectedDescription, keyDescription } from '../kit/inputFields.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import {
  ConflictError,
  InvalidStateError,
  NoChangeError,
  NotFoundError,
  QuotaExceededError,
} from '../kit/refusalError.ts'
import { aboutService, ServiceKey, serviceDescription } from '../kit/serviceKey.ts'
import { rolloutPayload } from '../rollout/rolloutPayload.ts'
import { updateIntentOf } from './updateIntent.ts'

export const UpdateServiceInput = builder.inputType('UpdateServiceInput', {
  description: 'What a service should run from now on. What is left out stays as it is.',
  fields: (t) => ({
    service: t.field({ type: ServiceKey, required: true, description: serviceDescription }),
    profileRevision: t.int({
      description: "A revision of the service's profile; left out: the one it has. Unknown: NotFoundError.",
    }),
    command: t.stringList({
      description:
        "Instead of the profile's command, within the same bounds. Null: back to the profile's; left out: as it is.",
    }),
    env: t.field({
      type: [EnvironmentVariableInput],
      required: { list: false, items: true },
      description: "The service's own variables over the profile's: replaces the whole list of its own.",
    }),
    replicas: t.int({
      description: `Desired replicas, ${bounds.replicas.min} to ${bounds.replicas.max}: scaled first.`,
    }),
    rollout: t.field({
      type: RolloutSettingsInput,
      description:
        "Settings for this rollout, over the profile's: in force until the next update. Alone they are new limits of the rollout in progress.",
    }),
    startPaused: t.boolean({
      defaultValue: false,
      description: 'Whether a rollout that this begins is paused from its first commit on: resumeRollout lets it go.',
    }),
    expectedRevision: t.field({ type: 'Revision', description: expectedDescription }),
    idempotencyKey: t.string({ description: keyDescription }),
  }),
})

userMutation({
  name: 'updateService',
  description:
    'Makes a new version the target and rolls out to it. An unfinished rollout is SUPERSEDED, replicas with equal content are kept. Nothing of it differs: NoChangeError. While the service is being deleted: InvalidStateError.',
  input: UpdateServiceInput,
  payload: rolloutPayload(
    'UpdateServicePayload',
    'The service is updated.',
    'The rollout that this began; where it changed no version: the current one.',
  ),
  errors: [NotFoundError, ConflictError, NoChangeError, QuotaExceededError, InvalidStateError],
  about: aboutService,
  perform: async (input, { app, viewer, remember }) => {
    const rolloutId = app.newId() as RolloutId
    const { serviceId, intent } = await updateIntentOf(app, input, viewer.subject, rolloutId)
    const result = { serviceId, rolloutId }
    return resultOrThrow(await app.committer.submit(serviceId, intent, remember(result)), result)
  },
})
