import { type ServiceFrame, serviceFrames } from '../../feed/frames/serviceFrames.ts'
import { builder } from '../kit/builder.ts'
import { frameFields } from './frameFields.ts'
import { afterArg, followService, ownServiceArgs } from './sources.ts'

const ServiceChange = builder.objectRef<ServiceFrame>('ServiceChange').implement({
  description: 'A frame of serviceChanged. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...frameFields(t),
    service: t.prismaField({
      type: 'Service',
      nullable: true,
      description: 'The service, read now and never older than the revision. Null on BOOKMARK and GONE.',
      resolve: (query, { kind, serviceId }, _args, { app }) =>
        kind === 'GONE' || kind === 'BOOKMARK'
          ? null
          : app.database.prisma.service.findUnique({ ...query, where: { id: serviceId } }),
    }),
  }),
})

builder.subscriptionField('serviceChanged', (t) =>
  t.field({
    type: ServiceChange,
    description:
      'Follows a service: a SNAPSHOT first, then a DELTA for every change of it or its replicas. The error NOT_FOUND when there is no such service. When it is deleted later, a frame GONE ends the subscription.',
    args: {
      ...ownServiceArgs,
      ...afterArg,
    },
    subscribe: (_root, { project, name, after }, context) =>
      followService(context, { project, name }, after, 'service', serviceFrames),
    resolve: (frame) => frame,
  }),
)
