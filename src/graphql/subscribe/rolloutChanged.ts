import { rolloutFrames, type ServiceFrame } from '../../feed/frames/serviceFrames.ts'
import { builder } from '../kit/builder.ts'
import { Rollout } from '../rollout/rollout.ts'
import { frameFields } from './frameFields.ts'
import { afterArg, followService, serviceArgs } from './sources.ts'

const RolloutChange = builder.objectRef<ServiceFrame>('RolloutChange').implement({
  description: 'A frame of rolloutChanged. It covers every change after the previous frame, up to its own revision.',
  fields: (t) => ({
    ...frameFields(t),
    rollout: t.field({
      type: Rollout,
      description:
        "The service's current rollout, read now: never older than the revision. On GONE it is the last one.",
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
      'Follows the current rollout of a service: a SNAPSHOT first, then a DELTA for every change of it, or when another one begins. No such service: the error NOT_FOUND; deleted later: GONE, and the subscription ends.',
    args: {
      ...serviceArgs,
      ...afterArg,
    },
    subscribe: (_root, { project, service, after }, context) =>
      followService(context, { project, name: service }, after, 'rollout', rolloutFrames),
    resolve: (frame) => frame,
  }),
)
