import { bounds } from '../../model/bounds.ts'
import { builder } from '../kit/builder.ts'
import { expectedDescription, keyDescription } from '../kit/inputFields.ts'
import { requireService } from '../kit/lookup.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import {
  ConflictError,
  InvalidStateError,
  NoChangeError,
  NotFoundError,
  QuotaExceededError,
} from '../kit/refusalError.ts'
import { aboutService, ServiceKey, serviceDescription } from '../kit/serviceKey.ts'
import { checkScaleService } from './serviceChecks.ts'
import { servicePayload } from './servicePayload.ts'

const ScaleServiceInput = builder.inputType('ScaleServiceInput', {
  description: 'How many replicas a service should have.',
  fields: (t) => ({
    service: t.field({ type: ServiceKey, required: true, description: serviceDescription }),
    replicas: t.int({
      required: true,
      description: `Desired replicas, ${bounds.replicas.min} to ${bounds.replicas.max}.`,
    }),
    expectedRevision: t.field({ type: 'Revision', description: expectedDescription }),
    idempotencyKey: t.string({ description: keyDescription }),
  }),
})

userMutation({
  name: 'scaleService',
  description:
    'Sets the desired replicas. What is too much is stopped, what is missing is started. While it is being deleted: InvalidStateError.',
  input: ScaleServiceInput,
  payload: servicePayload('ScaleServicePayload', 'The desired replicas are set.'),
  errors: [NotFoundError, ConflictError, QuotaExceededError, InvalidStateError],
  about: aboutService,
  perform: async (input, { app, viewer, remember }) => {
    const { replicas } = checkScaleService(input)
    const serviceId = await requireService(app, input.service)
    const expectedRevision = input.expectedRevision ?? null
    const intent = { kind: 'scale', replicas, expectedRevision, actor: viewer.subject } as const
    return resultOrThrow(await app.committer.submit(serviceId, intent, remember({ serviceId })), { serviceId })
  },
})

const ResetBackoffInput = builder.inputType('ResetBackoffInput', {
  description: 'Whose failures to forget.',
  fields: (t) => ({
    service: t.field({ type: ServiceKey, required: true, description: serviceDescription }),
    idempotencyKey: t.string({ description: keyDescription }),
  }),
})

userMutation({
  name: 'resetBackoff',
  description:
    'Forgets the failures of all slots, so that what waits is tried at once. Nothing to forget: NoChangeError.',
  input: ResetBackoffInput,
  payload: servicePayload('ResetBackoffPayload', 'The failures are forgotten.'),
  errors: [NotFoundError, NoChangeError],
  about: aboutService,
  perform: async (input, { app, viewer, remember }) => {
    const serviceId = await requireService(app, input.service)
    return resultOrThrow(
      await app.committer.submit(serviceId, { kind: 'resetBackoff', actor: viewer.subject }, remember({ serviceId })),
      {
        serviceId,
      },
    )
  },
})

const DeleteServiceInput = builder.inputType('DeleteServiceInput', {
  description: 'Which service to delete.',
  fields: (t) => ({
    service: t.field({ type: ServiceKey, required: true, description: serviceDescription }),
    expectedRevision: t.field({ type: 'Revision', description: expectedDescription }),
    idempotencyKey: t.string({ description: keyDescription }),
  }),
})

userMutation({
  name: 'deleteService',
  description:
    'Stops all replicas; with the end of the last one the service is gone and its name free. While it is being deleted the same answer is given again.',
  input: DeleteServiceInput,
  payload: servicePayload('DeleteServicePayload', 'The service is being deleted, or gone.'),
  errors: [NotFoundError, ConflictError],
  about: aboutService,
  perform: async (input, { app, viewer, remember }) => {
    const serviceId = await requireService(app, input.service)
    const intent = { kind: 'delete', expectedRevision: input.expectedRevision ?? null, actor: viewer.subject } as const
    return resultOrThrow(await app.committer.submit(serviceId, intent, remember({ serviceId })), { serviceId })
  },
})
