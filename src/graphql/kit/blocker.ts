import type { BlockReason as Reason } from '../../generated/prisma/enums.ts'
import {
  type BlockerObject as BlockerObjectValue,
  type Blocker as BlockerValue,
  mostObjects,
} from '../../model/blocker.ts'
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

/** The types of the rows that blockers are about: a row itself does not say of which table it is. */
const types = new WeakMap<object, 'Replica' | BlockerObjectValue['type']>()

const BlockerObject = builder.unionType('BlockerObject', {
  description: 'What a blocker is about.',
  types: [rowType('Replica'), rowType('Host'), rowType('Project')],
  resolveType: (row) => types.get(row),
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
    remedy: t.string({
      nullable: true,
      description: 'What somebody can do about it, as a sentence; null when only time helps.',
      resolve: (blocker) => blocker.remedy ?? null,
    }),
    objects: t.field({
      type: [BlockerObject],
      description: `What it is about: the replica that waits, or the first of them, and the host or project that is in the way. At most ${mostObjects + 1}.`,
      resolve: async ({ replica, objects = [] }, _args, { rows }) => {
        const named = replica === null ? objects : [{ type: 'Replica', id: replica } as const, ...objects]
        const all = await Promise.all(
          named.map(async ({ type, id }) => {
            const row = await rows.load(type, id)
            if (row !== null) types.set(row, type)
            return row
          }),
        )
        // What is gone by now is left out.
        return all.filter((row) => row !== null)
      },
    }),
  }),
})
