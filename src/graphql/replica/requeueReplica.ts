import type { ReplicaId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { rowType } from '../kit/rowType.ts'
import { ReplicaReference, requireReplica, shownReplica } from './replicaReference.ts'

const RequeueReplicaPayload = builder.objectRef<{ readonly replicaId: ReplicaId }>('RequeueReplicaPayload').implement({
  description: 'The replica is to leave its host.',
  fields: (t) => ({
    replica: t.field({
      type: rowType('Replica'),
      description: 'The replica, read after the change.',
      resolve: ({ replicaId }, _args, { rows }) => rows.require('Replica', replicaId),
    }),
  }),
})

userMutation({
  name: 'requeueReplica',
  description:
    "Moves one replica away from its host, as a drain does: another one is started on another host, and this one is stopped when that has a place and the service's limits allow it. Where no other host takes it, it runs on, and the service's blockers say so; killReplica ends the wait. InvalidStateError when the replica has no host, is stopping or has ended; NoChangeError when it is to be replaced already.",
  input: {
    description: 'The replica to move.',
    fields: (t) => ({
      replica: t.field({
        type: ReplicaReference,
        required: true,
        description: 'The replica. NotFoundError when it does not exist.',
      }),
    }),
  },
  payload: RequeueReplicaPayload,
  errors: ['NOT_FOUND', 'INVALID_STATE', 'NO_CHANGE'],
  about: ({ replica }) => ({ replica: shownReplica(replica) }),
  perform: async ({ replica, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const { replicaId, serviceId } = await requireReplica(app, replica, ['input', 'replica'])
    const intent = { kind: 'requeue', replica: replicaId, ...by } as const
    const outcome = await app.committer.submit(serviceId, intent, remember({ replicaId }), await app.outlook.room())
    return resultOrThrow(outcome, { replicaId })
  },
})
