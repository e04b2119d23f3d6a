import type { Reachability } from '../generated/prisma/enums.ts'

/** A registration that there is. */
export interface Registered {
  readonly name: string
  readonly host: string
  readonly instance: string | null
  readonly reachability: Reachability
}

/** A registration to be. */
export interface Newcomer {
  readonly name: string
  readonly host: string
  /** Of its state directory; null: it does not say, and is taken for the one that had its name before. */
  readonly instance: string | null
}

/**
 * R15: who has a name keeps it until it is LOST, and so fenced; then a newcomer may take its place. The same state directory is the same worker,
 * started again. Null: nothing speaks against the newcomer; otherwise why it is refused.
 */
export function nameHeldBy(held: Registered, newcomer: Newcomer): string | null {
  if (held.name !== newcomer.name || held.reachability === 'LOST') return null
  const { name, host } = held
  if (isSame(held, newcomer)) {
    // Its replicas are where they were placed, and end there first.
    return host === newcomer.host ? null : `Worker ${name} is on host ${host} still: register again in a moment.`
  }
  const gone = `If that one is gone for good: this one is taken when it is lost, after its grace, or at once by confirmHostLoss of ${host}.`
  return `A worker named ${name} is registered already, with another state directory, on host ${host}: give this one another XCE_WORKER_NAME. ${gone}`
}

/** The same worker, started again: by its state directory, or by its name where it says nothing of that. */
export function isSame(held: Pick<Registered, 'name' | 'instance'>, newcomer: Pick<Newcomer, 'name' | 'instance'>): boolean {
  if (held.instance !== null && newcomer.instance !== null) return held.instance === newcomer.instance
  return held.name === newcomer.name
}
