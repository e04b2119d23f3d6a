import { type ServiceFrame, serviceFrames } from '../../feed/frames/serviceFrames.ts'
import { serviceFollower } from '../../feed/serviceFollower.ts'
import { SharedSource } from '../../feed/sharedSource.ts'
import { builder } from '../kit/builder.ts'
import { ChangeKind } from './changeKind.ts'
import { subscribedService } from './subscribedService.ts'
import { afterDescription } from './subscriptionArgs.ts'

const ServiceChange = builder.objectRef<ServiceFrame>('ServiceChange').implement({
  description: 'A frame of serviceChanged. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    kind: t.field({ type: ChangeKind, description: 'What this frame is.', resolve: (frame) => frame.kind }),
    revision: t.field({
      type: 'Revision',
      description: 'Its position in the fact log.',
      resolve: (frame) => frame.revision,
    }),
    service: t.prismaField({
      type: 'Service',
      nullable: true,
      description: 'The service, read now: never older than the revision. Null on BOOKMARK and GONE.',
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
      'Follows a service: a SNAPSHOT first, then a DELTA for every change of it or its replicas. No such service: the error NOT_FOUND; deleted later: GONE, and the subscription ends.',
    args: {
      project: t.arg.string({ required: true, defaultValue: 'default', description: "The project's name." }),
      name: t.arg.string({ required: true, description: "The service's name." }),
      after: t.arg({ type: 'Revision', description: afterDescription }),
    },
    subscribe: async (_root, { project, name, after }, context) => {
      const id = await subscribedService(context, { project, name })
      const { feed } = context.app
      return new SharedSource(feed, `service ${id}`, after, serviceFollower(feed, id, serviceFrames(id)))
    },
    resolve: (frame) => frame,
  }),
)
