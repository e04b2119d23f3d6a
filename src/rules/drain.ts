import { rowsPerCommit } from '../model/bounds.ts'
import type { HostId } from '../model/id.ts'
import type { Outcome } from '../model/outcome.ts'
import { isActive } from '../model/replica.ts'
import { type Draft, hostOf, isDeleting, put } from './draft.ts'
import { note } from './note.ts'

/** R15: the host is being drained: what is on it is to leave, each when its replacement has a place elsewhere. */
export function drain(draft: Draft, host: HostId): Outcome {
  draft.standings.push({ hostId: host, reachability: null, draining: true })
  const name = hostOf(draft, host)?.name ?? 'unknown'
  let changed = false
  if (isDeleting(draft)) return { kind: 'done', changed }
  for (const row of [...draft.alive.rows]) {
    if (row.hostId !== host || row.leaving !== null || !isActive(row)) continue
    if (draft.touched.size >= rowsPerCommit && !draft.touched.has(row.id)) break
    put(draft, { ...row, leaving: 'DRAIN' })
    note(draft, row, `is to leave host ${name}, which is being drained`, `are to leave host ${name}, which is being drained`)
    changed = true
  }
  return { kind: 'done', changed }
}

/** R15: the host is not drained any more: what has not left it stays. */
export function undrain(draft: Draft, host: HostId): Outcome {
  draft.standings.push({ hostId: host, reachability: null, draining: false })
  const name = hostOf(draft, host)?.name ?? 'unknown'
  let changed = false
  for (const row of [...draft.alive.rows]) {
    if (row.hostId !== host || row.leaving !== 'DRAIN' || !isActive(row)) continue
    if (draft.touched.size >= rowsPerCommit && !draft.touched.has(row.id)) break
    put(draft, { ...row, leaving: null })
    note(draft, row, `stays on host ${name}, which is drained no more`, `stay on host ${name}, which is drained no more`)
    changed = true
  }
  return { kind: 'done', changed }
}
