import { rowsPerCommit } from '../model/bounds.ts'
import type { HostId } from '../model/id.ts'
import type { Outcome } from '../model/outcome.ts'
import type { Context } from './context.ts'
import { type Draft, hostOf, put } from './draft.ts'
import { note } from './note.ts'
import { withReadiness } from './readiness.ts'

/** R9, R15: the lease of the host is over. Its replicas run on, perhaps, but are ready for nobody: their addresses leave with this commit. */
export function unreach(draft: Draft, host: HostId, ctx: Context): Outcome {
  draft.standings.push({ hostId: host, reachability: 'UNREACHABLE', draining: null })
  const name = hostOf(draft, host)?.name ?? 'unknown'
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (row.hostId !== host || !row.hostReachable) continue
    if (draft.touched.size >= rowsPerCommit && !draft.touched.has(row.id)) break
    put(draft, withReadiness({ ...row, hostReachable: false }, draft.columns.settings.minReadySeconds, ctx.now))
    note(draft, row, `can't be reached: host ${name} is silent`, `can't be reached: host ${name} is silent`)
    changed = true
  }
  return { kind: 'done', changed }
}

/**
 * R15: the host's worker has told everything: what it said last of its replicas counts again, so that addresses return with this commit.
 * True: some were unreachable.
 */
export function reachAgain(draft: Draft, host: HostId, ctx: Context): boolean {
  draft.standings.push({ hostId: host, reachability: 'REACHABLE', draining: null })
  const name = hostOf(draft, host)?.name ?? 'unknown'
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (row.hostId !== host || row.hostReachable) continue
    put(draft, withReadiness({ ...row, hostReachable: true }, draft.columns.settings.minReadySeconds, ctx.now))
    note(draft, row, `can be reached again: host ${name} is back`, `can be reached again: host ${name} is back`)
    changed = true
  }
  return changed
}
