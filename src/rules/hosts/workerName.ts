import type { Reachability } from '../../generated/prisma/enums.ts'

/** A registration that there is. */
export interface Registered {
  readonly name: string
  readonly host: string
  /** The id of its state directory; null: it is not known, and equals none. */
  readonly instance: string | null
  readonly reachability: Reachability
  /** The highest that its state directory has given to one; 0: it gives none. */
  readonly registrationNumber: number
}

/** A registration to be. */
export interface Newcomer {
  readonly name: string
  readonly host: string
  /** The id of its state directory. An empty one equals none. */
  readonly instance: string
  /** Of this registration among those of its state directory. Left out or null: it does not say, and is taken for the latest one. */
  readonly registrationNumber?: number | null | undefined
}

/**
 * R15: who has a name keeps it until it is LOST, and so fenced; then a newcomer may take its place. The same state directory is the same worker,
 * started again. Null: nothing speaks against the newcomer; otherwise why it is refused.
 */
export function nameHeldBy(held: Registered, newcomer: Newcomer): string | null {
  if (held.name !== newcomer.name || held.reachability === 'LOST' || isSame(held, newcomer)) return null
  const { name, host } = held
  const gone = `If that one is gone for good: this one is taken when it is lost, after its grace, or at once by confirmHostLoss of ${host}.`
  return `A worker named ${name} is registered already, with another state directory, on host ${host}: give this one another XCE_WORKER_NAME. ${gone}`
}

/**
 * The same worker, started again: only its state directory says so. A name is no proof, because every worker's token can give any name: whoever was
 * taken for a live worker by its name would fence it and be told its assignments, with their secrets.
 */
export function isSame(held: Pick<Registered, 'instance'>, newcomer: Pick<Newcomer, 'instance'>): boolean {
  return newcomer.instance !== '' && held.instance === newcomer.instance
}

/** A later registration of the same state directory was taken already: this one comes late, and its worker has registered anew since. */
export function isOvertaken(held: Registered, newcomer: Newcomer): boolean {
  const number = newcomer.registrationNumber ?? null
  return number !== null && number <= held.registrationNumber && isSame(held, newcomer)
}
