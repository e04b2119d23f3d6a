/** The version of the worker's protocol that this release's workers speak. */
export const workerProtocolVersion = 1

/** Versions of the worker's protocol. */
export interface ProtocolRange {
  readonly oldest: number
  readonly newest: number
}

/** For how long a worker may be silent. */
export interface LeaseTerms {
  readonly leaseSeconds: number
  readonly graceSeconds: number
}

/**
 * What a server says to whoever connects, in the acknowledgement of a WebSocket's connection and so before anything is asked. A worker of before passes
 * over what it does not know, and a server of before leaves it out.
 */
export interface Greeting {
  readonly workerProtocol: ProtocolRange
  /** Of now: a worker that registered before the servers were started anew has others. */
  readonly workerLease: LeaseTerms
  /** It takes the number of a registration, and tells the newest one to a worker whose number is not above that. */
  readonly registrationNumbers: true
}

/** What this release's servers take: the release before's too, because servers are upgraded before workers. */
export const serverProtocols: ProtocolRange = { oldest: 1, newest: workerProtocolVersion }

/** Why a worker and a server can't work together, as a sentence; null: they can. */
export function protocolFault(worker: number, { oldest, newest }: ProtocolRange): string | null {
  if (worker >= oldest && worker <= newest) return null
  const takes = oldest === newest ? `version ${newest}` : `versions ${oldest} to ${newest}`
  const advice = worker > newest ? 'upgrade the servers first, then the workers' : 'upgrade this worker'
  return `The worker speaks version ${worker} of the protocol, this server takes ${takes}: ${advice}.`
}
