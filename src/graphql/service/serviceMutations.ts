import { bounds } from '../../model/bounds.ts'
import { noneLeft } from '../kit/check.ts'
import { requireService } from '../kit/lookup.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { aboutService, expectedRevisionField, serviceField } from '../kit/serviceReference.ts'
import { whole } from '../kit/values.ts'
import { servicePayload } from './servicePayload.ts'

userMutation({
  name: 'scaleService',
  description:
    'Sets the desired replicas. Surplus replicas are stopped, and missing ones are started. InvalidStateError while the service is being deleted.',
  input: {
    description: 'The service to scale, and how many replicas it should have.',
    fields: (t) => ({
      service: t.field(serviceField),
      replicas: t.int({
        required: true,
        ...whole(bounds.replicas, 'replicas', (range) => `Desired replicas, ${range}.`),
      }),
      expectedRevision: t.field(expectedRevisionField),
    }),
  },
  payload: servicePayload('ScaleServicePayload', 'The desired replicas are set.'),
  errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED', 'INVALID_STATE'],
  about: (input) => aboutService(input),
  perform: async ({ service, replicas, expectedRevision = null, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const serviceId = await requireService(app, service)
    const intent = { kind: 'scale', replicas, expectedRevision, ...by } as const
    return resultOrThrow(
      await app.committer.submit(serviceId, intent, remember({ serviceId }), await app.outlook.room()),
      { serviceId },
    )
  },
})

userMutation({
  name: 'resetBackoff',
  description:
    'Forgets the failures of all slots, so that replicas that wait for their backoff are tried at once. NoChangeError when there is nothing to forget.',
  input: { description: 'The service whose failures to forget.', fields: (t) => ({ service: t.field(serviceField) }) },
  payload: servicePayload('ResetBackoffPayload', 'The failures are forgotten.'),
  errors: ['NOT_FOUND', 'NO_CHANGE'],
  about: (input) => aboutService(input),
  perform: async ({ service, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const serviceId = await requireService(app, service)
    const intent = { kind: 'resetBackoff', ...by } as const
    return resultOrThrow(
      await app.committer.submit(serviceId, intent, remember({ serviceId }), await app.outlook.room()),
      { serviceId },
    )
  },
})

userMutation({
  name: 'deleteService',
  description:
    'Stops all replicas of a service. When the last one has ended, the service is gone and its name is free. Deleting it again meanwhile gives the same answer.',
  input: {
    description: 'The service to delete.',
    fields: (t) => ({ service: t.field(serviceField), expectedRevision: t.field(expectedRevisionField) }),
  },
  payload: servicePayload('DeleteServicePayload', 'The service is being deleted, or has gone already.'),
  errors: ['NOT_FOUND', 'CONFLICT'],
  about: (input) => aboutService(input),
  perform: async ({ service, expectedRevision = null, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const serviceId = await requireService(app, service)
    const intent = { kind: 'delete', expectedRevision, ...by } as const
    return resultOrThrow(await app.committer.submit(serviceId, intent, remember({ serviceId })), { serviceId })
  },
})
