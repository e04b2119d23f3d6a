import { rowsPerCommit } from '../model/bounds.ts'
import type { HostId } from '../model/id.ts'
import type { Outcome } from '../model/outcome.ts'
import { isActive } from '../model/replica.ts'
import type { Replica } from '../model/service.ts'
import type { Context } from './context.ts'
import { type Draft, hostOf, put } from './draft.ts'
import { endedRow } from './end.ts'
import { note } from './note.ts'
import { replace } from './start.ts'
import { noteStopped } from './stopNotes.ts'

/**
 * R15: the host is LOST, and fenced by that. What was on it has ended: no failure, so without backoff; quota passes to the replacement, which
 * has the same index. Rows let go of ports, CPU and memory here; the host as a whole holds them, for a LOST one is given nothing until it
 * comes back clean.
 */
export function lose(draft: Draft, host: HostId, ctx: Context): Outcome {
  draft.standings.push({ hostId: host, reachability: 'LOST', draining: null })
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (row.hostId !== host) continue
    // A row and its replacement.
    if (draft.touched.size + 2 > rowsPerCommit) break
    loseRow(draft, row, ctx)
    changed = true
  }
  return { kind: 'done', changed }
}

function loseRow(draft: Draft, row: Replica, ctx: Context): void {
  const wasActive = isActive(row)
  const reason = wasActive ? 'HOST_LOST' : (row.stopReason ?? 'HOST_LOST')
  const ended = endedRow(row, { reason, exitCode: null, exitSignal: null, message: 'its host was lost' }, ctx.now)
  put(draft, ended)
  if (!wasActive) {
    noteStopped(draft, ended, reason)
    return
  }
  const name = hostOf(draft, row.hostId)?.name ?? 'unknown'
  note(draft, ended, `is lost with host ${name} and replaced`, `are lost with host ${name} and replaced`)
  replace(draft, row, row.holdsQuota, ctx)
}
