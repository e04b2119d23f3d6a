import type { RolloutId, ServiceId } from '../../model/id.ts'
import type { Version } from '../../model/service.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { builder } from '../kit/builder.ts'
import { expectedDescription, keyDescription } from '../kit/inputFields.ts'
import { requireService } from '../kit/lookup.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { ConflictError, InvalidStateError, NoChangeError, NotFoundError } from '../kit/refusalError.ts'
import { aboutService, ServiceKey, serviceDescription } from '../kit/serviceKey.ts'
import { versionValue } from '../kit/versionValue.ts'
import { rolloutPayload } from './rolloutPayload.ts'

const begun = 'The rollout that this began.'
const current = 'The current rollout.'

/** The input of a mutation that only names a service. */
function serviceInput(name: string, description: string) {
  return builder.inputType(name, {
    description,
    fields: (t) => ({
      service: t.field({ type: ServiceKey, required: true, description: serviceDescription }),
      expectedRevision: t.field({ type: 'Revision', description: expectedDescription }),
      idempotencyKey: t.string({ description: keyDescription }),
    }),
  })
}

userMutation({
  name: 'restartService',
  description:
    'Replaces all replicas by new ones with the same content, under a new version number and within the limits of a rollout. While the service is being deleted: InvalidStateError.',
  input: serviceInput('RestartServiceInput', 'Which service to restart.'),
  payload: rolloutPayload('RestartServicePayload', 'The service is being restarted.', begun),
  errors: [NotFoundError, ConflictError, InvalidStateError],
  about: aboutService,
  perform: async (input, { app, viewer, remember }) => {
    const serviceId = await requireService(app, input.service)
    const rolloutId = app.newId() as RolloutId
    const expectedRevision = input.expectedRevision ?? null
    const result = { serviceId, rolloutId }
    const intent = { kind: 'restart', rolloutId, expectedRevision, actor: viewer.subject } as const
    return resultOrThrow(await app.committer.submit(serviceId, intent, remember(result)), result)
  },
})

for (const { kind, name, description, input, payload } of [
  {
    kind: 'pause',
    name: 'pauseRollout',
    description:
      'Lets no version step any more; replacement and scaling go on, and the deadline stops. No rollout is under way, or it is paused already: InvalidStateError.',
    input: serviceInput('PauseRolloutInput', 'Whose rollout to pause.'),
    payload: rolloutPayload('PauseRolloutPayload', 'The rollout is paused.', current),
  },
  {
    kind: 'resume',
    name: 'resumeRollout',
    description: 'Lets a paused rollout go on, with its full deadline. Not paused: InvalidStateError.',
    input: serviceInput('ResumeRolloutInput', 'Whose rollout to resume.'),
    payload: rolloutPayload('ResumeRolloutPayload', 'The rollout goes on.', current),
  },
] as const) {
  userMutation({
    name,
    description,
    input,
    payload,
    errors: [NotFoundError, ConflictError, InvalidStateError],
    about: aboutService,
    perform: async ({ service, expectedRevision }, { app, viewer, remember }) => {
      const serviceId = await requireService(app, service)
      const result = { serviceId, rolloutId: null }
      const intent = { kind, expectedRevision: expectedRevision ?? null, actor: viewer.subject } as const
      return resultOrThrow(await app.committer.submit(serviceId, intent, remember(result)), result)
    },
  })
}

const RollbackServiceInput = builder.inputType('RollbackServiceInput', {
  description: 'Which service to roll back, and to what.',
  fields: (t) => ({
    service: t.field({ type: ServiceKey, required: true, description: serviceDescription }),
    toVersion: t.int({
      description:
        'A version number of the service; unknown: NotFoundError. Left out: what the unfinished rollout came from, else the last completed version with other content.',
    }),
    expectedRevision: t.field({ type: 'Revision', description: expectedDescription }),
    idempotencyKey: t.string({ description: keyDescription }),
  }),
})

userMutation({
  name: 'rollbackService',
  description:
    'Makes the content of an earlier version the target, under a new number; an unfinished rollout is ROLLED_BACK. Replicas, settings and a pause stay as they are. Equal content: NoChangeError. There is nothing to go back to, or the service is being deleted: InvalidStateError.',
  input: RollbackServiceInput,
  payload: rolloutPayload('RollbackServicePayload', 'The service is being rolled back.', begun),
  errors: [NotFoundError, ConflictError, NoChangeError, InvalidStateError],
  about: aboutService,
  perform: async (input, { app, viewer, remember }) => {
    const serviceId = await requireService(app, input.service)
    const to =
      typeof input.toVersion === 'number'
        ? await requireVersion(app, serviceId, input.service.name, input.toVersion)
        : null
    const rolloutId = app.newId() as RolloutId
    const expectedRevision = input.expectedRevision ?? null
    const result = { serviceId, rolloutId }
    const intent = { kind: 'rollback', to, rolloutId, expectedRevision, actor: viewer.subject } as const
    return resultOrThrow(await app.committer.submit(serviceId, intent, remember(result)), result)
  },
})

/** Versions never change: what is found here is what the rules take, though its row may be trimmed meanwhile. */
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
  throw new NotFoundError(`Service ${service} has no version ${number}: ${why}.`, ['input', 'toVersion'])
}
