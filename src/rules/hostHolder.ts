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
 * R15: one worker looks after a host, since two would both run all of its replicas. Who has the name or the host keeps it until it is LOST, and so
 * fenced; then a newcomer may take its place. The same state directory is the same worker, started again. Null: nothing speaks against it; otherwise
 * why it is refused, and the field of the input.
 */
export function heldBy(registrations: readonly Registered[], newcomer: Newcomer): { field: 'name' | 'host'; message: string } | null {
  for (const held of registrations) {
    if (held.reachability === 'LOST' || isSame(held, newcomer)) continue
    const { name, host } = held
    const gone = `If that one is gone for good: this one is taken when host ${host} is lost, after its grace, or at once by confirmHostLoss.`
    if (name === newcomer.name) {
      const message = `A worker named ${name} is registered already, with another state directory, on host ${host}: give this one another XCE_WORKER_NAME. ${gone}`
      return { field: 'name', message }
    }
    if (host !== newcomer.host) continue
    const message = `Host ${host} has a worker already, ${name}, and one worker looks after a host: stop this one, or give it another XCE_WORKER_HOST. ${gone}`
    return { field: 'host', message }
  }
  return null
}

function isSame(held: Registered, newcomer: Newcomer): boolean {
  if (held.instance !== null && newcomer.instance !== null) return held.instance === newcomer.instance
  return held.name === newcomer.name
}
