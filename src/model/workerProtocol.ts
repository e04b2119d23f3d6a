/** The version of the worker's protocol that this release's workers speak. The first release speaks version 1. */
export const workerProtocolVersion = 1

/** A range of versions of the worker's protocol. */
export interface ProtocolRange {
  readonly oldest: number
  readonly newest: number
}

/** How long a worker may be silent. */
export interface LeaseTerms {
  readonly leaseSeconds: number
  readonly graceSeconds: number
}

/**
 * What every server says to whoever connects to the path of workers. It stands in the acknowledgement of a WebSocket's connection, and so
 * comes before any request. Later versions of the protocol may add to it; `workerProtocol` stays in all of them, so
 * that a worker can always tell whether it may go on.
 */
export interface Greeting {
  readonly workerProtocol: ProtocolRange
  /** The current terms: a worker that registered before the servers were restarted may have others. */
  readonly workerLease: LeaseTerms
}

/**
 * What this release's servers take. Servers are upgraded before workers, so from the second version on `oldest` is the
 * version that the previous release's workers speak.
 */
export const serverProtocols: ProtocolRange = { oldest: 1, newest: workerProtocolVersion }

/** Says in a sentence why a worker and a server cannot work together; null when they can. */
export function protocolFault(worker: number, { oldest, newest }: ProtocolRange): string | null {
  if (worker >= oldest && worker <= newest) return null
  const takes = oldest === newest ? `version ${newest}` : `versions ${oldest} to ${newest}`
  const advice = worker > newest ? 'upgrade the servers first, then the workers' : 'upgrade this worker'
  return `The worker speaks version ${worker} of the protocol, this server takes ${takes}: ${advice}.`
}
