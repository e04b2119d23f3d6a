import type { PortDeclaration } from '../../model/content.ts'
import type { Limit, Settings } from '../../model/settings.ts'

/** The limits of a rollout as numbers of replicas: how many above n, and how many below n. */
export interface ResolvedLimits {
  readonly maxSurge: number
  readonly maxUnavailable: number
}

const quarter: Limit = { percent: 25 }

/**
 * R1: resolves the limits of `n` desired replicas to numbers of replicas. A percentage of the surge is rounded up, one
 * of the unavailable down. If both come to 0, one replica may be unavailable, because otherwise no rollout could move.
 * It counts in integers, so that 25 % of 4 is never 0.999….
 */
export function resolveLimits(n: number, settings: Pick<Settings, 'maxSurge' | 'maxUnavailable'>): ResolvedLimits {
  const { maxSurge: surge, maxUnavailable: unavailable } = settings
  const s = 'count' in surge ? surge.count : Math.floor((surge.percent * n + 99) / 100)
  const u = 'count' in unavailable ? unavailable.count : Math.floor((unavailable.percent * n) / 100)
  return { maxSurge: s, maxUnavailable: Math.min(s === 0 && u === 0 ? 1 : u, n) }
}

/**
 * R1: the limits of a profile that gives none. The surge is 0 beside a fixed port or under STRICT spread, because it
 * could not be placed there.
 */
export function defaultLimits(
  ports: readonly PortDeclaration[],
  spreadMode: Settings['spreadMode'],
): Pick<Settings, 'maxSurge' | 'maxUnavailable'> {
  return { maxSurge: crowds(ports, spreadMode) ? { percent: 0 } : quarter, maxUnavailable: quarter }
}

/** The replicas may find no host beside one another. */
export function crowds(ports: readonly PortDeclaration[], spreadMode: Settings['spreadMode']): boolean {
  return spreadMode === 'STRICT' || ports.some((declared) => declared.port !== null)
}
