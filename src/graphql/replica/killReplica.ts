import type { ReplicaId, ServiceId } from '../../model/id.ts'
import { quoted } from '../../model/quoted.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { idOf } from '../kit/globalId.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { errorOf } from '../kit/refusalError.ts'
import { rowType } from '../kit/rowType.ts'

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
      replica: t.id({
        required: true,
        description: 'The global id of a replica. NotFoundError when it does not exist.',
      }),
    }),
  },
  payload: KillReplicaPayload,
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  about: ({ replica }) => ({ replica }),
  perform: async ({ replica, ...rest }, { app, viewer, remember }) => {
    noneLeft(rest)
    const id = idOf('Replica', replica)
    const row =
      id === null ? null : await app.database.prisma.replica.findUnique({ where: { id }, select: { serviceId: true } })
    if (row === null) {
      const message = `There is no replica ${quoted(replica)}: ids of replicas look like Replica_01890a5d-ac96-774b-bcce-b302099a8057.`
      throw errorOf({ code: 'NOT_FOUND', message, path: ['input', 'replica'] })
    }
    const replicaId = id as ReplicaId
    const intent = { kind: 'kill', replica: replicaId, actor: viewer.subject } as const
    return resultOrThrow(
      await app.committer.submit(row.serviceId as ServiceId, intent, remember({ replicaId }), await app.outlook.room()),
      {
        replicaId,
      },
    )
  },
})
