/** The version of the worker's protocol that this release's workers speak. */
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
 * What a server says to whoever connects. It stands in the acknowledgement of a WebSocket's connection, and so comes
 * before any request. A worker of an older release ignores what it does not know, and a server of an older release
 * leaves this out.
 */
export interface Greeting {
  readonly workerProtocol: ProtocolRange
  /** The current terms: a worker that registered before the servers were restarted may have others. */
  readonly workerLease: LeaseTerms
  /**
   * The server takes the number of a registration, and returns the newest number to a worker whose own is not higher.
   */
  readonly registrationNumbers: true
}

/** This release's servers also take the previous release's version, because servers are upgraded before workers. */
export const serverProtocols: ProtocolRange = { oldest: 1, newest: workerProtocolVersion }

/** Says in a sentence why a worker and a server cannot work together; null when they can. */
export function protocolFault(worker: number, { oldest, newest }: ProtocolRange): string | null {
  if (worker >= oldest && worker <= newest) return null
  const takes = oldest === newest ? `version ${newest}` : `versions ${oldest} to ${newest}`
  const advice = worker > newest ? 'upgrade the servers first, then the workers' : 'upgrade this worker'
  return `The worker speaks version ${worker} of the protocol, this server takes ${takes}: ${advice}.`
}
