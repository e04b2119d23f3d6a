/** Workers that lose a server at the same time connect to the next one within this time, not all at once. */
const spreadMillis = 300
/** Doubles with every round over the servers; the wait after the first round is twice this. */
const roundMillis = 50

/**
 * How long to wait before the next try to connect, in milliseconds. `failures` counts the tries that failed since the last
 * session; it is 0 when the session was lost just now. `random` is from 0 to 1.
 *
 * After a lost session the wait is short and random, because all workers of a server lose it in one instant and must not
 * reach the next one in one instant. Then the worker tries each server without a wait, because one of the others may be
 * well. The wait after each such round doubles, half of it random, up to `mostMillis`.
 */
export function reconnectMillis(failures: number, servers: number, mostMillis: number, random: number): number {
  if (failures === 0) return Math.round(random * Math.min(mostMillis, spreadMillis))
  const rounds = failures / servers
  if (!Number.isInteger(rounds)) return 0
  return Math.round((0.5 + random / 2) * Math.min(mostMillis, roundMillis * 2 ** rounds))
}
