import type { Blocker } from '../../model/blocker.ts'

/** Equal in every field. */
export function sameBlocker(a: Blocker | null, b: Blocker | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.reason === b.reason &&
    a.message === b.message &&
    a.count === b.count &&
    a.since === b.since &&
    a.until === b.until &&
    a.replica === b.replica
  )
}

/** Equal one by one, in order. */
export function sameBlockers(a: readonly Blocker[], b: readonly Blocker[]): boolean {
  return a.length === b.length && a.every((blocker, at) => sameBlocker(blocker, b[at] ?? null))
}
