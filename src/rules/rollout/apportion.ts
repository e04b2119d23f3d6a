/** How many of the new rows one version gets. */
export interface Share {
  readonly versionNumber: number
  readonly seats: number
}

/**
 * R4: shares `seats` new rows among versions in proportion to `counts`, the active rows by version number. The largest
 * remainders round up, and ties go to the newest version. The result is in the order of version numbers, and empty if
 * nothing is counted.
 */
export function apportion(seats: number, counts: ReadonlyMap<number, number>): readonly Share[] {
  let total = 0
  for (const count of counts.values()) total += count
  if (total === 0) return []
  // seats · count stays below 2^53, because both are at most 100,000.
  const rows = [...counts].map(([versionNumber, count]) => {
    const remainder = (seats * count) % total
    return { versionNumber, seats: (seats * count - remainder) / total, remainder }
  })
  rows.sort((a, b) => b.remainder - a.remainder || b.versionNumber - a.versionNumber)
  let left = seats
  for (const row of rows) left -= row.seats
  return rows
    .map(({ versionNumber, seats: base }, rank) => ({ versionNumber, seats: rank < left ? base + 1 : base }))
    .sort((a, b) => a.versionNumber - b.versionNumber)
}
