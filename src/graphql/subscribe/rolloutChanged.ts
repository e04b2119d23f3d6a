import { rolloutFrames, type ServiceFrame } from '../../feed/frames/serviceFrames.ts'
import { builder } from '../kit/builder.ts'
import { rowType } from '../kit/rowType.ts'
import { frameFields } from './frameFields.ts'
import { followService, frameArgs, serviceArgs } from './sources.ts'

const RolloutChange = builder.objectRef<ServiceFrame>('RolloutChange').implement({
  description: 'A frame of rolloutChanged. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...frameFields(t),
    rollout: t.field({
      type: rowType('Rollout'),
      description:
        "The service's current rollout, read now and never older than the revision. On GONE it is the last one.",
      resolve: async ({ serviceId }, _args, { rows }) => {
        const { rolloutNumber } = await rows.require('Service', serviceId)
        return rows.requireNumbered('Rollout', serviceId, rolloutNumber)
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
      ...frameArgs,
    },
    subscribe: (_root, { service, ...wishes }, context) =>
      followService(context, service, wishes, 'rollout', rolloutFrames),
    resolve: (frame) => frame,
  }),
)
