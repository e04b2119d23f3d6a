import type { BlockReason } from '../generated/prisma/enums.ts'
import type { Blocker } from '../model/blocker.ts'
import type { Instant } from '../model/id.ts'
import { isOutdated } from '../model/replica.ts'
import type { Rollout } from '../model/service.ts'
import { counted } from './counted.ts'
import { type Draft, targetOf } from './draft.ts'
import { waitsOf } from './waits.ts'

/** What stops a rollout most, first. */
const order: readonly BlockReason[] = [
  'QUOTA',
  'NO_HOST',
  'NO_CAPACITY',
  'NO_PORT',
  'SPREAD',
  'CRASH_LOOP',
  'BACKOFF',
  'HOST_UNREACHABLE',
  'QUEUED',
  'WAITING_FOR_READY',
  'MIN_READY',
]

/** What the rollout waits for, from its first commit on (R8); null when it waits for nothing. */
export function holdOf(draft: Draft, rollout: Rollout, outdated: number, now: Instant): Blocker | null {
  const since = (reason: BlockReason) => (rollout.hold?.reason === reason ? rollout.hold.since : now)
  if (draft.columns.paused) {
    const message = `Rollout ${rollout.number} is paused: resumeRollout lets it go on.`
    return { reason: 'ROLLOUT_PAUSED', message, count: 1, since: since('ROLLOUT_PAUSED'), until: null, replica: null }
  }
  const { contentNumber } = targetOf(draft)
  const before = rollout.hold === null ? [] : [rollout.hold]
  const waits = waitsOf(draft, (row) => !row.available && !isOutdated(row, contentNumber), before, now)
  for (const reason of order) {
    const wait = waits.get(reason)
    if (wait !== undefined) return wait
  }
  if (outdated === 0) return null
  const message = `${counted(outdated, 'replica')} of other versions ${outdated === 1 ? 'is' : 'are'} still to be replaced.`
  return { reason: 'STOPPING_OLD', message, count: outdated, since: since('STOPPING_OLD'), until: null, replica: null }
}
