import type { Reachability } from '../../generated/prisma/enums.ts'

/** A worker that is registered. */
export interface Registered {
  readonly name: string
  readonly host: string
  /** The id of its state directory. */
  readonly stateDirectoryId: string
  readonly reachability: Reachability
  /** The highest number that its state directory has given to a registration. */
  readonly registrationNumber: number
  /** Only the brake keeps it from being LOST. */
  readonly held: boolean
}

/** A worker that wants to register. */
export interface Newcomer {
  readonly name: string
  readonly host: string
  /** The id of its state directory. */
  readonly stateDirectoryId: string
  /** The number of this registration among those of its state directory, from 1. */
  readonly registrationNumber: number
}

/**
 * R15: whoever has a name keeps it until it is LOST, and so fenced; then a newcomer may take it. The same state
 * directory is the same worker, started again. Returns why the newcomer is refused; null when nothing speaks against
 * it. `freeAt` is the instant at which lease and grace of the one that has the name are over, unless it renews its lease.
 */
export function nameHeldBy(held: Registered, newcomer: Newcomer, freeAt: string): string | null {
  if (held.name !== newcomer.name || held.reachability === 'LOST' || isSame(held, newcomer)) return null
  const { name, host } = held
  const gone = held.held
    ? `If that one is gone for good: its grace is over, but too many hosts are silent at once, so this one is taken only after confirmHostLoss of ${host}.`
    : `If that one is gone for good: this one is taken when the lease and grace of that one are over, at ${freeAt}, or earlier by confirmHostLoss of ${host}.`
  return `A worker named ${name} is registered already, with another state directory, on host ${host}: give this one another XCE_WORKER_NAME. ${gone}`
}

/**
 * Only its state directory shows that a worker is the same one, started again. A name is no proof, because every
 * worker's token can give any name: whoever was taken for a live worker by its name would fence it and get its
 * assignments, with their secrets.
 */
export function isSame(
  held: Pick<Registered, 'stateDirectoryId'>,
  newcomer: Pick<Newcomer, 'stateDirectoryId'>,
): boolean {
  return held.stateDirectoryId === newcomer.stateDirectoryId
}

/**
 * A later registration of the same state directory was accepted already. This one comes late, and its worker has
 * registered again since.
 */
export function isOvertaken(held: Registered, newcomer: Newcomer): boolean {
  return newcomer.registrationNumber <= held.registrationNumber && isSame(held, newcomer)
}
