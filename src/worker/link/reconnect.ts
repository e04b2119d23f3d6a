/** Workers that lost one server at the same time reach the next one over so long. */
const spreadMillis = 300
/** Doubled with every round: the first is twice that. */
const roundMillis = 50

/**
 * How long to wait before the next try to connect, in milliseconds. `failures`: tries that failed since the last session; 0: it was lost just now.
 * `random`: from 0 to 1.
 *
 * After a lost session a short wait anywhere in the spread: all workers of a server lose it in one instant, and must not come to the next one in
 * one instant. After that no wait within a round over all servers, for one of the others may be well, and twice as long a one after each round,
 * half of it random, up to `mostMillis`.
 */
export function reconnectMillis(failures: number, servers: number, mostMillis: number, random: number): number {
  if (failures === 0) return Math.round(random * Math.min(mostMillis, spreadMillis))
  const rounds = failures / servers
  if (!Number.isInteger(rounds)) return 0
  return Math.round((0.5 + random / 2) * Math.min(mostMillis, roundMillis * 2 ** rounds))
}
