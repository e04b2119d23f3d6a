import type { ReplicaId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { rowType } from '../kit/rowType.ts'
import { ReplicaReference, requireReplica, shownReplica } from './replicaReference.ts'

const KillReplicaPayload = builder.objectRef<{ readonly replicaId: ReplicaId }>('KillReplicaPayload').implement({
  description: 'The replica is being stopped.',
  fields: (t) => ({
    replica: t.field({
      type: rowType('Replica'),
      description: 'The replica, read after the change.',
      resolve: ({ replicaId }, _args, { rows }) => rows.require('Replica', replicaId),
    }),
  }),
})

userMutation({
  name: 'killReplica',
  description:
    'Stops one replica by its stop policy. Another one takes its place, and this does not count as a failure. InvalidStateError when the replica is stopping or has ended.',
  input: {
    description: 'The replica to stop.',
    fields: (t) => ({
      replica: t.field({
        type: ReplicaReference,
        required: true,
        description: 'The replica. NotFoundError when it does not exist.',
      }),
    }),
  },
  payload: KillReplicaPayload,
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  about: ({ replica }) => ({ replica: shownReplica(replica) }),
  perform: async ({ replica, ...rest }, { app, by, remember }) => {
    noneLeft(rest)
    const { serviceId, replicaId } = await requireReplica(app, replica, ['input', 'replica'])
    const intent = { kind: 'kill', replica: replicaId, ...by } as const
    return resultOrThrow(
      await app.committer.submit(serviceId, intent, remember({ replicaId }), await app.outlook.room()),
      { replicaId },
    )
  },
})
