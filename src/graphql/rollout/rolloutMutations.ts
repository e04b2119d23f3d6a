import type { RolloutId, ServiceId } from '../../model/id.ts'
import type { Version } from '../../model/service.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { noneLeft } from '../kit/check.ts'
import { requireService } from '../kit/lookup.ts'
import { type InputFields, resultOrThrow, userMutation } from '../kit/mutation.ts'
import { errorOf } from '../kit/refusalError.ts'
import { aboutService, expectedRevisionField, serviceField } from '../kit/serviceReference.ts'
import { versionValue } from '../kit/versionValue.ts'
import { rolloutPayload } from './rolloutPayload.ts'

const begun = 'The rollout that this began.'
const current = 'The current rollout.'

/** The input of a mutation that only names a service. */
function serviceInput(description: string) {
  return {
    description,
    fields: (t: InputFields) => ({ service: t.field(serviceField), expectedRevision: t.field(expectedRevisionField) }),
  }
}

userMutation({
  name: 'restartService',
  description:
    'Replaces all replicas by new ones with the same content, under a new version number and within the limits of a rollout. InvalidStateError while the service is being deleted.',
  input: serviceInput('The service to restart.'),
  payload: rolloutPayload('RestartServicePayload', 'The service is being restarted.', begun),
  errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_STATE'],
  about: (input) => aboutService(input),
  perform: async ({ service, expectedRevision = null, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const serviceId = await requireService(app, service)
    const rolloutId = app.newId() as RolloutId
    const result = { serviceId, rolloutId }
    const intent = { kind: 'restart', rolloutId, expectedRevision, ...by } as const
    return resultOrThrow(
      await app.committer.submit(serviceId, intent, remember(result), await app.outlook.room()),
      result,
    )
  },
})

for (const { kind, name, description, input, payload } of [
  {
    kind: 'pause',
    name: 'pauseRollout',
    description:
      'Pauses the current rollout: it starts and stops no replica for the sake of the new version, and its deadline stops. Replacement and scaling go on. InvalidStateError when no rollout is under way, or when it is paused already.',
    input: serviceInput('The service whose rollout to pause.'),
    payload: rolloutPayload('PauseRolloutPayload', 'The rollout is paused.', current),
  },
  {
    kind: 'resume',
    name: 'resumeRollout',
    description: 'Lets a paused rollout go on, with its full deadline. InvalidStateError when it is not paused.',
    input: serviceInput('The service whose rollout to resume.'),
    payload: rolloutPayload('ResumeRolloutPayload', 'The rollout goes on.', current),
  },
] as const) {
  userMutation({
    name,
    description,
    input,
    payload,
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_STATE'],
    about: (input) => aboutService(input),
    perform: async ({ service, expectedRevision = null, ...rest }, { app, by, remember }) => {
      noneLeft(rest)
      const serviceId = await requireService(app, service)
      const result = { serviceId, rolloutId: null }
      const intent = { kind, expectedRevision, ...by } as const
      return resultOrThrow(
        await app.committer.submit(serviceId, intent, remember(result), await app.outlook.room()),
        result,
      )
    },
  })
}

userMutation({
  name: 'rollbackService',
  description:
    'Makes the content of an earlier version the target, under a new number. An unfinished rollout is then ROLLED_BACK. The desired replicas, the settings and a pause stay as they are. NoChangeError when the content is equal already; InvalidStateError when there is nothing to go back to, or while the service is being deleted.',
  input: {
    description: 'The service to roll back, and the version to go back to.',
    fields: (t) => ({
      service: t.field(serviceField),
      toVersion: t.int({
        description:
          'A version number of the service. When it is left out: the version that the unfinished rollout came from, or else the last completed version with other content. NotFoundError when there is no such number.',
      }),
      expectedRevision: t.field(expectedRevisionField),
    }),
  },
  payload: rolloutPayload('RollbackServicePayload', 'The service is being rolled back.', begun),
  errors: ['NOT_FOUND', 'CONFLICT', 'NO_CHANGE', 'INVALID_STATE'],
  about: (input) => aboutService(input),
  perform: async ({ service, toVersion, expectedRevision = null, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const serviceId = await requireService(app, service)
    const to =
      typeof toVersion === 'number'
        ? await requireVersion(app, serviceId, service.name ?? service.id ?? '', toVersion)
        : null
    const rolloutId = app.newId() as RolloutId
    const result = { serviceId, rolloutId }
    const intent = { kind: 'rollback', to, rolloutId, expectedRevision, ...by } as const
    return resultOrThrow(
      await app.committer.submit(serviceId, intent, remember(result), await app.outlook.room()),
      result,
    )
  },
})

/** Versions never change, so the rules take this one even if its row is trimmed meanwhile. */
async function requireVersion(
  { database: { prisma } }: ServerContext,
  serviceId: ServiceId,
  service: string,
  number: number,
): Promise<Version> {
  const row = await prisma.serviceVersion.findUnique({ where: { serviceId_number: { serviceId, number } } })
  if (row !== null) return versionValue(row)
  const { _max } = await prisma.serviceVersion.aggregate({ where: { serviceId }, _max: { number: true } })
  const newest = _max.number ?? 1
  const why =
    number >= 1 && number < newest ? 'it was trimmed, so take one of its field versions' : `its newest is ${newest}`
  const message = `Service ${service} has no version ${number}: ${why}.`
  throw errorOf({ code: 'NOT_FOUND', message, path: ['input', 'toVersion'] })
}
