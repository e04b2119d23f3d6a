import type { BlockReason as Reason } from '../../generated/prisma/enums.ts'
import type { Blocker as BlockerValue } from '../../model/blocker.ts'
import { builder } from './builder.ts'
import { enumOf } from './enumOf.ts'
import { rowType } from './rowType.ts'

export const BlockReason = enumOf<Reason>('BlockReason', 'Why something waits.', {
  QUEUED: 'It waits for its turn to be placed.',
  BACKOFF: 'It waits after a failure; `until` says for how long.',
  CRASH_LOOP: 'It failed three times or more in a row; `until` says when it is tried again.',
  QUOTA: "The project's quota is used up.",
  NO_HOST: 'There is no host that takes replicas.',
  NO_CAPACITY: 'No host has enough CPU and memory left.',
  NO_PORT: 'No host has all ports free that it needs, or other programs used its ports again and again.',
  SPREAD: 'Every host has as many replicas of the service as STRICT spread allows.',
  HOST_UNREACHABLE: 'Its worker is not reachable.',
  HOST_DRAINING: 'Its worker or host is being drained.',
  REQUEUED: 'A user moves it away from its host (requeueReplica), and it waits for its replacement.',
  NO_ADDRESS: 'Its host has no address to list in the endpoint.',
  WAITING_FOR_READY: 'It waits until replicas are ready.',
  MIN_READY: 'It waits until ready replicas have been ready for minReadySeconds.',
  STOPPING_OLD: 'It waits until stopping replicas have ended.',
  ROLLOUT_PAUSED: 'The rollout is paused.',
  PROGRESS_DEADLINE: 'The rollout made no progress within progressDeadlineSeconds.',
})

export const Blocker = builder.objectRef<BlockerValue>('Blocker').implement({
  description: 'The reason why something waits. Whatever waits has a blocker.',
  fields: (t) => ({
    reason: t.field({
      type: BlockReason,
      description: 'The reason, for programs.',
      resolve: (blocker) => blocker.reason,
    }),
    message: t.exposeString('message', { description: 'A sentence: what waits, for what, and what would help.' }),
    count: t.exposeInt('count', { description: 'The number of replicas that wait for this reason.' }),
    since: t.field({
      type: 'DateTime',
      description: 'The instant since which this has been so.',
      resolve: (blocker) => blocker.since,
    }),
    until: t.field({
      type: 'DateTime',
      nullable: true,
      description: "The instant at which it will end without anybody's action; null when that is not known.",
      resolve: (blocker) => blocker.until,
    }),
    replica: t.field({
      type: rowType('Replica'),
      nullable: true,
      description: 'The replica that it is about; null when it is about none or several.',
      resolve: ({ replica }, _args, { rows }) => rows.load('Replica', replica),
    }),
  }),
})
