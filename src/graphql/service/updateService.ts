import { bounds } from '../../model/bounds.ts'
import type { ProfileRevisionId, RolloutId, ServiceId } from '../../model/id.ts'
import type { ProfileRevisionView, UpdateIntent } from '../../model/intent.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { environmentField, environmentOf } from '../content/environmentInput.ts'
import { RolloutSettingsInput, rolloutFaults, rolloutOf } from '../content/settingsInput.ts'
import { noneLeft } from '../kit/check.ts'
import { requireRevision, requireService } from '../kit/lookup.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { aboutService, expectedRevisionField, serviceField } from '../kit/serviceKey.ts'
import { checkCommand, whole } from '../kit/values.ts'
import { rolloutPayload } from '../rollout/rolloutPayload.ts'

export const UpdateServiceInput = userMutation({
  name: 'updateService',
  description:
    'Makes a new version the target and rolls out to it. An unfinished rollout is SUPERSEDED, replicas with equal content are kept. Nothing of it differs: NoChangeError. While the service is being deleted: InvalidStateError.',
  input: {
    description: 'What a service should run from now on. What is left out stays as it is.',
    fields: (t) => ({
      service: t.field(serviceField),
      profileRevision: t.int({
        description: "A revision of the service's profile; left out: the one it has. Unknown: NotFoundError.",
      }),
      command: t.stringList({
        description:
          "Instead of the profile's command, within the same bounds. Null: back to the profile's; left out: as it is.",
        check: checkCommand,
      }),
      env: t.field({
        ...environmentField,
        description: "The service's own variables over the profile's: replaces the whole list of its own.",
      }),
      replicas: t.int(whole(bounds.replicas, 'replicas', (range) => `Desired replicas, ${range}: scaled first.`)),
      rollout: t.field({
        type: RolloutSettingsInput,
        description:
          "Settings for this rollout, over the profile's: in force until the next update. Alone they are new limits of the rollout in progress.",
        check: rolloutFaults,
      }),
      startPaused: t.boolean({
        defaultValue: false,
        description: 'Whether a rollout that this begins is paused from its first commit on: resumeRollout lets it go.',
      }),
      expectedRevision: t.field(expectedRevisionField),
    }),
  },
  payload: rolloutPayload(
    'UpdateServicePayload',
    'The service is updated.',
    'The rollout that this began; where it changed no version: the current one.',
  ),
  errors: ['NOT_FOUND', 'CONFLICT', 'NO_CHANGE', 'QUOTA_EXCEEDED', 'INVALID_STATE'],
  about: (input) => aboutService(input),
  perform: async (input, { app, viewer, remember }) => {
    const rolloutId = app.newId() as RolloutId
    const { serviceId, intent } = await updateIntentOf(app, input, viewer.subject, rolloutId)
    const result = { serviceId, rolloutId }
    return resultOrThrow(
      await app.committer.submit(serviceId, intent, remember(result), await app.outlook.room()),
      result,
    )
  },
})

/** What an update asks of the rules. Throws NotFoundError for what it names in vain. */
export async function updateIntentOf(
  app: ServerContext,
  input: typeof UpdateServiceInput.$inferInput,
  actor: string,
  rolloutId: RolloutId,
): Promise<{ readonly serviceId: ServiceId; readonly intent: UpdateIntent }> {
  const { service, profileRevision, command, env, replicas, rollout, startPaused, expectedRevision, ...rest } = input
  noneLeft(rest)
  const serviceId = await requireService(app, service)
  const intent: UpdateIntent = {
    kind: 'update',
    profile: typeof profileRevision === 'number' ? await revisionOf(app, serviceId, profileRevision) : null,
    overrides: {
      // Null goes back to the profile's command, left out keeps the service's own.
      ...(command === undefined ? {} : { command }),
      ...(env ? { env: environmentOf(env) } : {}),
    },
    replicas: replicas ?? null,
    rollout: rolloutOf(rollout),
    startPaused: startPaused ?? false,
    rolloutId,
    expectedRevision: expectedRevision ?? null,
    actor,
  }
  return { serviceId, intent }
}

/** Another revision of the profile that a service has: a service never changes its profile. */
async function revisionOf(
  { database: { prisma } }: ServerContext,
  serviceId: ServiceId,
  revision: number,
): Promise<ProfileRevisionView> {
  const { profileRevision } = await prisma.service.findUniqueOrThrow({
    where: { id: serviceId },
    select: { profileRevision: { select: { profile: true } } },
  })
  const found = await requireRevision(prisma, profileRevision.profile, revision)
  return { id: found.id as ProfileRevisionId, content: found.content, settings: found.settings }
}
