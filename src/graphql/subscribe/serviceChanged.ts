import { type ServiceFrame, serviceFrames } from '../../feed/frames/serviceFrames.ts'
import { builder } from '../kit/builder.ts'
import { Service } from '../service/service.ts'
import { frameFields } from './frameFields.ts'
import { followService, frameArgs, serviceArgs } from './sources.ts'

const ServiceChange = builder.objectRef<ServiceFrame>('ServiceChange').implement({
  description: 'A frame of serviceChanged. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...frameFields(t),
    service: t.field({
      type: Service,
      description: 'The service, read now and never older than the revision. On GONE it is as it ended.',
      resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
    }),
  }),
})

builder.subscriptionField('serviceChanged', (t) =>
  t.field({
    type: ServiceChange,
    description:
      'Follows a service: a SNAPSHOT first, then a DELTA for every change of it or its replicas. The error NOT_FOUND when there is no such service. When it is deleted later, a frame GONE ends the subscription.',
    args: {
      ...serviceArgs,
      ...frameArgs,
    },
    subscribe: (_root, { service, ...wishes }, context) =>
      followService(context, service, wishes, 'service', serviceFrames),
    resolve: (frame) => frame,
  }),
)
