import { rolloutFrames, type ServiceFrame } from '../../feed/frames/serviceFrames.ts'
import { serviceFollower } from '../../feed/serviceFollower.ts'
import { SharedSource } from '../../feed/sharedSource.ts'
import { builder } from '../kit/builder.ts'
import { ChangeKind } from './changeKind.ts'
import { subscribedService } from './subscribedService.ts'
import { afterDescription } from './subscriptionArgs.ts'

const RolloutChange = builder.objectRef<ServiceFrame>('RolloutChange').implement({
  description: 'A frame of rolloutChanged. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    kind: t.field({ type: ChangeKind, description: 'What this frame is.', resolve: (frame) => frame.kind }),
    revision: t.field({
      type: 'Revision',
      description: 'Its position in the fact log.',
      resolve: (frame) => frame.revision,
    }),
    rollout: t.prismaField({
      type: 'Rollout',
      nullable: true,
      description: "The service's current rollout, read now: never older than the revision. Null on BOOKMARK and GONE.",
      resolve: async (query, { kind, serviceId }, _args, { app }) => {
        if (kind === 'GONE' || kind === 'BOOKMARK') return null
        const { prisma } = app.database
        const service = await prisma.service.findUnique({ where: { id: serviceId }, select: { rolloutNumber: true } })
        if (service === null) return null
        const key = { serviceId, number: service.rolloutNumber }
        return prisma.rollout.findUnique({ ...query, where: { serviceId_number: key } })
      },
    }),
  }),
})

builder.subscriptionField('rolloutChanged', (t) =>
  t.field({
    type: RolloutChange,
    description:
      'Follows the current rollout of a service: a SNAPSHOT first, then a DELTA for every change of it, or when another one begins. No such service: the error NOT_FOUND; deleted later: GONE, and the subscription ends.',
    args: {
      project: t.arg.string({ required: true, defaultValue: 'default', description: "The project's name." }),
      service: t.arg.string({ required: true, description: "The service's name." }),
      after: t.arg({ type: 'Revision', description: afterDescription }),
    },
    subscribe: async (_root, { project, service, after }, context) => {
      const id = await subscribedService(context, { project, name: service })
      const { feed } = context.app
      return new SharedSource(feed, `rollout ${id}`, after, serviceFollower(feed, id, rolloutFrames(id)))
    },
    resolve: (frame) => frame,
  }),
)
