import { bounds } from '../../model/bounds.ts'
import type { ProfileRevisionId, RolloutId, ServiceId } from '../../model/id.ts'
import type { ProfileRevisionView, UpdateIntent } from '../../model/intent.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { contentFields, contentOf, ownContent } from '../content/contentFields.ts'
import { environmentChangeFaults, environmentField, environmentOf, unsetField } from '../content/environmentInput.ts'
import { metadataFields, metadataOf } from '../content/metadata.ts'
import { ownSettingsFaults, ServiceSettingsInput, settingsChangeOf } from '../content/settingsInput.ts'
import { type Fault, noneLeft } from '../kit/check.ts'
import { requireQueue, requireRevision, requireService } from '../kit/lookup.ts'
import { type Call, resultOrThrow, userMutation } from '../kit/mutation.ts'
import { aboutService, expectedRevisionField, serviceField } from '../kit/serviceReference.ts'
import { checkCommand, whole } from '../kit/values.ts'
import { rolloutPayload } from '../rollout/rolloutPayload.ts'
import { withWarnings } from './warnings.ts'

export const UpdateServiceInput = userMutation({
  name: 'updateService',
  description:
    'Makes a new version the target and rolls out to it. An unfinished rollout is then SUPERSEDED, and replicas with equal content are kept. NoChangeError when nothing differs; InvalidStateError while the service is being deleted.',
  input: {
    description: 'What a service should run from now on. Omitted fields stay as they are.',
    fields: (t) => ({
      service: t.field(serviceField),
      profileRevision: t.int({
        description:
          "A revision of the service's profile; the present one when left out. NotFoundError when it does not exist.",
      }),
      latestProfile: t.boolean({
        defaultValue: false,
        description: "Whether to take the newest revision of the service's profile. Not together with profileRevision.",
      }),
      command: t.stringList({
        description:
          "A command that replaces the profile's command, within the same bounds. Null goes back to the profile's command; an omitted field changes nothing.",
        check: checkCommand,
      }),
      env: t.field({
        ...environmentField,
        description:
          "The service's own variables, which replace the profile's variables of the same name. The list replaces the whole earlier list of the service; what was hidden and the list does not name stays hidden, unless unsetEnv is given too. Null goes back to the profile's environment.",
      }),
      setEnv: t.field({
        ...environmentField,
        description: "Single variables to set; the service's other variables stay. Not together with env.",
      }),
      unsetEnv: t.stringList({
        ...unsetField,
        description:
          "Names of variables to remove: the service's own value goes, and a variable of the profile is hidden until it is set again, or until env is null. A name that nobody sets changes nothing. Together with env it is the whole list of what is hidden.",
      }),
      replicas: t.int(
        whole(
          bounds.replicas,
          'replicas',
          (range) => `Desired replicas, ${range}. The service is scaled before it is updated.`,
        ),
      ),
      ...contentFields(t, () => "It stays as it is when it is left out; null goes back to the profile's."),
      settings: t.field({
        type: ServiceSettingsInput,
        description:
          "Settings that the service has of its own from now on. When nothing else is given, they hold for the rollout in progress, too. Null goes back to all of the profile's.",
        check: ownSettingsFaults,
      }),
      ...metadataFields(
        t,
        'They stay as they are when they are left out, and null clears them. No replica is touched.',
      ),
      queue: t.string({
        description:
          'The queue to move it to, by its name. Its priority decides from now on when replicas are placed. NotFoundError when it does not exist.',
      }),
      startPaused: t.boolean({
        defaultValue: false,
        description:
          'Whether a rollout that this update begins is paused from its first commit on. resumeRollout lets it go on.',
      }),
      expectedRevision: t.field(expectedRevisionField),
    }),
    check: (input) => [...environmentChangeFaults(input), ...revisionFaults(input)],
  },
  payload: withWarnings(
    rolloutPayload(
      'UpdateServicePayload',
      'The service is updated.',
      'The rollout that this began, or the current one when this changed no version.',
    ),
  ),
  errors: ['NOT_FOUND', 'CONFLICT', 'NO_CHANGE', 'QUOTA_EXCEEDED', 'INVALID_STATE'],
  about: (input) => aboutService(input),
  perform: async (input, { app, by, remember }) => {
    const rolloutId = app.newId() as RolloutId
    const { serviceId, intent } = await updateIntentOf(app, input, by, rolloutId)
    const result = { serviceId, rolloutId }
    const outcome = await app.committer.submit(serviceId, intent, remember(result), await app.outlook.room())
    return resultOrThrow(await withNewerRevision(app, serviceId, outcome), result)
  },
})

/** Returns what an update asks of the rules. Throws NotFoundError for an object that does not exist. */
export async function updateIntentOf(
  app: ServerContext,
  input: typeof UpdateServiceInput.$inferInput,
  by: Call['by'],
  rolloutId: RolloutId,
): Promise<{ readonly serviceId: ServiceId; readonly intent: UpdateIntent }> {
  const { service, profileRevision, latestProfile, command, env, setEnv, unsetEnv, ...others } = input
  const { replicas, settings, queue, startPaused, expectedRevision, ...own } = others
  const { metadata, rest: unnoted } = metadataOf(own)
  const { given, rest } = contentOf(unnoted)
  noneLeft(rest)
  const serviceId = await requireService(app, service)
  const intent: UpdateIntent = {
    kind: 'update',
    profile: await revisionOf(app, serviceId, profileRevision, latestProfile === true),
    overrides: {
      // Null goes back to the profile's; an omitted field keeps the service's own.
      ...(command === undefined ? {} : { command }),
      ...(env === undefined ? {} : { env: env && environmentOf(env) }),
      ...(setEnv ? { setEnv: environmentOf(setEnv) } : {}),
      ...(unsetEnv ? { unsetEnv } : {}),
      ...ownContent(given),
    },
    replicas: replicas ?? null,
    queue: typeof queue === 'string' ? await requireQueue(app.database.prisma, queue) : null,
    metadata,
    settings: settingsChangeOf(settings),
    startPaused: startPaused ?? false,
    rolloutId,
    expectedRevision: expectedRevision ?? null,
    ...by,
  }
  return { serviceId, intent }
}

/** Finds another revision of the service's profile. A service never changes its profile. */
async function revisionOf(
  { database: { prisma } }: ServerContext,
  serviceId: ServiceId,
  revision: number | null | undefined,
  latest: boolean,
): Promise<ProfileRevisionView | null> {
  if (typeof revision !== 'number' && !latest) return null
  const { profileRevision } = await prisma.service.findUniqueOrThrow({
    where: { id: serviceId },
    select: { profileRevision: { select: { profile: true } } },
  })
  const found = await requireRevision(
    prisma,
    profileRevision.profile,
    revision ?? profileRevision.profile.currentRevision,
  )
  return { id: found.id as ProfileRevisionId, content: found.content, settings: found.settings }
}

function revisionFaults({
  profileRevision,
  latestProfile,
}: {
  profileRevision?: number | null | undefined
  latestProfile?: boolean | null | undefined
}): Fault[] {
  if (typeof profileRevision !== 'number' || latestProfile !== true) return []
  const message = `latestProfile is given together with profileRevision ${profileRevision}: give one of them.`
  return [{ path: ['latestProfile'], message }]
}

type Answer = Awaited<ReturnType<ServerContext['committer']['submit']>>

/** Who updates a service in vain may have expected to get the profile's newest revision, which an update takes only when it is told. */
async function withNewerRevision(
  { database: { prisma } }: ServerContext,
  serviceId: ServiceId,
  outcome: Answer,
): Promise<Answer> {
  if (outcome.kind !== 'refused' || outcome.refusal.code !== 'NO_CHANGE') return outcome
  const { profileRevision } = await prisma.service.findUniqueOrThrow({
    where: { id: serviceId },
    select: { profileRevision: { select: { revision: true, profile: true } } },
  })
  const { revision, profile } = profileRevision
  if (revision === profile.currentRevision) return outcome
  const message = `${outcome.refusal.message} It runs revision ${revision} of profile ${profile.name}, and the newest one is ${profile.currentRevision}: give latestProfile: true to take it.`
  return { kind: 'refused', refusal: { ...outcome.refusal, message } }
}
