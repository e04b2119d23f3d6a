import { rolloutFrames, type ServiceFrame } from '../../feed/frames/serviceFrames.ts'
import { builder } from '../kit/builder.ts'
import { frameFields } from './frameFields.ts'
import { afterArg, followService, serviceArgs } from './sources.ts'

const RolloutChange = builder.objectRef<ServiceFrame>('RolloutChange').implement({
  description: 'A frame of rolloutChanged. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...frameFields(t),
    rollout: t.prismaField({
      type: 'Rollout',
      nullable: true,
      description:
        "The service's current rollout, read now and never older than the revision. Null on BOOKMARK and GONE.",
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
      'Follows the current rollout of a service: a SNAPSHOT first, then a DELTA for every change of it, or when another one begins. The error NOT_FOUND when there is no such service. When it is deleted later, a frame GONE ends the subscription.',
    args: {
      ...serviceArgs,
      ...afterArg,
    },
    subscribe: (_root, { project, service, after }, context) =>
      followService(context, { project, name: service }, after, 'rollout', rolloutFrames),
    resolve: (frame) => frame,
  }),
)
