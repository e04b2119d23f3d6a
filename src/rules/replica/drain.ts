import type { WorkerId } from '../../model/id.ts'
import { type CommitOutcome, unfinished } from '../../model/outcome.ts'
import { isActive, isOn } from '../../model/replica.ts'
import { type Draft, hasRoom, isDeleting, put } from '../draft/draft.ts'
import { recordSharedEvent } from '../draft/events.ts'
import { workerOn } from './workerReachability.ts'

/**
 * R15: the worker or its host is being drained. Everything on the worker is to leave, each replica when its replacement
 * has a place elsewhere.
 */
export function drain(draft: Draft, worker: WorkerId): CommitOutcome {
  draft.workerPreconditions.push({ workerId: worker, reachability: null, draining: true })
  let changed = false
  if (isDeleting(draft)) return { kind: 'done', changed }
  for (const row of [...draft.alive.rows]) {
    if (!isOn(row, worker) || row.leaving !== null || !isActive(row)) continue
    if (!hasRoom(draft, row.id)) return unfinished
    put(draft, { ...row, leaving: 'DRAIN' })
    const which = `${workerOn(draft, row)}, which is being drained`
    recordSharedEvent(draft, row, 'leaves', `is to leave ${which}`, `are to leave ${which}`)
    changed = true
  }
  return { kind: 'done', changed }
}

/** R15: neither the worker nor its host is being drained any more, so what has not left the worker stays. */
export function undrain(draft: Draft, worker: WorkerId): CommitOutcome {
  draft.workerPreconditions.push({ workerId: worker, reachability: null, draining: false })
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (!isOn(row, worker) || row.leaving !== 'DRAIN' || !isActive(row)) continue
    if (!hasRoom(draft, row.id)) return unfinished
    put(draft, { ...row, leaving: null })
    const which = `${workerOn(draft, row)}, which is no longer being drained`
    recordSharedEvent(draft, row, 'stays', `stays on ${which}`, `stay on ${which}`)
    changed = true
  }
  return { kind: 'done', changed }
}
