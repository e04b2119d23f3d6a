import type { BlockReason as Reason } from '../../generated/prisma/enums.ts'
import type { Blocker as BlockerValue } from '../../model/blocker.ts'
import { builder } from './builder.ts'
import { enumOf } from './enumOf.ts'
import { rowType } from './rowType.ts'

export const BlockReason = enumOf<Reason>('BlockReason', 'Why something waits.', {
  QUEUED: 'Waits for its turn to be placed.',
  BACKOFF: 'Waits after a failure: until says how long.',
  CRASH_LOOP: 'Failed three times or more in a row: until says when it is tried again.',
  QUOTA: 'The project has no replica of its quota left.',
  NO_HOST: 'No host is there that could take it.',
  NO_CAPACITY: 'No host has enough CPU and memory left.',
  NO_PORT: 'No host has the ports it needs free.',
  SPREAD: 'Every host has as many replicas of the service as STRICT spread allows.',
  HOST_UNREACHABLE: 'Its worker is not reachable.',
  HOST_DRAINING: 'Its worker or host is being drained.',
  NO_ADDRESS: 'Its host has no address to list in the endpoint.',
  WAITING_FOR_READY: 'Waits until replicas are ready.',
  MIN_READY: 'Waits until ready replicas were ready for minReadySeconds.',
  STOPPING_OLD: 'Waits until stopping replicas have ended.',
  ROLLOUT_PAUSED: 'The rollout is paused.',
  PROGRESS_DEADLINE: 'The rollout made no progress within progressDeadlineSeconds.',
})

export const Blocker = builder.objectRef<BlockerValue>('Blocker').implement({
  description: 'The reason something waits, as a value. "Not now" is always said, never left out.',
  fields: (t) => ({
    reason: t.field({ type: BlockReason, description: 'Why, for programs.', resolve: (blocker) => blocker.reason }),
    message: t.exposeString('message', { description: 'A sentence: what waits, for what, and what would help.' }),
    count: t.exposeInt('count', { description: 'Replicas it holds.' }),
    since: t.field({ type: 'DateTime', description: 'Since when.', resolve: (blocker) => blocker.since }),
    until: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null where that is not known.',
      resolve: (blocker) => blocker.until,
    }),
    replica: t.field({
      type: rowType('Replica'),
      nullable: true,
      description: 'The one replica it is about; null where there is none to name.',
      resolve: ({ replica }, _args, { rows }) => rows.load('Replica', replica),
    }),
  }),
})
