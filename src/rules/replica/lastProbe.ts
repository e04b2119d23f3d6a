import type { Instant } from '../../model/id.ts'
import type { ReportedProbe } from '../../model/lastProbe.ts'
import { isTold } from '../../model/repeats.ts'
import type { Replica } from '../../model/service.ts'
import { failingProbe } from '../draft/probeText.ts'

/** R9: takes over what the worker tells of the probes of this start. The row stays as it is where that is known. */
export function withProbe(row: Replica, probe: ReportedProbe | null, now: Instant): Replica {
  if (probe === null) return row
  const { kind, ok, message, count } = probe
  const known = row.lastProbe
  if (known !== null && known.kind === kind && known.ok === ok && known.message === message)
    return known.count >= count ? row : { ...row, lastProbe: { ...known, count, at: now } }
  const since = Math.max(row.startedAt ?? row.createdAt, now - probe.seconds * 1_000)
  const lastProbe = { kind, ok, message, count, since, at: now, failures: (known?.failures ?? 0) + (ok ? 0 : 1) }
  return { ...row, lastProbe }
}

/**
 * A failure that was told for the first time, or again after other results: of those of one start the 1st, 2nd, 4th,
 * 8th … is worth an event.
 */
export function isProbeNews(before: Replica, after: Replica): boolean {
  const failing = failingProbe(after)
  if (failing === null || failing.failures === before.lastProbe?.failures) return false
  return isTold(failing.failures)
}
