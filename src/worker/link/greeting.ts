import {
  type Greeting,
  type LeaseTerms,
  type ProtocolRange,
  protocolFault,
  workerProtocolVersion,
} from '../../model/workerProtocol.ts'

/**
 * Reads what a server says of itself. Throws a sentence where this worker can't work with it. The versions come first, because a server that does not
 * take this worker's version may say everything else in another way.
 */
export function readGreeting(payload: unknown): Greeting {
  const { workerProtocol, workerLease } = (payload ?? {}) as {
    readonly workerProtocol?: Partial<ProtocolRange>
    readonly workerLease?: Partial<LeaseTerms>
  }
  const { oldest, newest } = workerProtocol ?? {}
  if (typeof oldest !== 'number' || typeof newest !== 'number')
    throw new Error(
      'What answers does not say which versions of the worker’s protocol it takes: it is not a server of XCE Services. See whether the URL is right.',
    )
  const fault = protocolFault(workerProtocolVersion, { oldest, newest })
  if (fault !== null) throw new Error(fault)
  const { leaseSeconds, graceSeconds } = workerLease ?? {}
  if (!isSeconds(leaseSeconds) || !isSeconds(graceSeconds))
    throw new Error('The server does not say for how long a worker may be silent: it is broken, so try another.')
  return { workerProtocol: { oldest, newest }, workerLease: { leaseSeconds, graceSeconds } }
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value > 0
}
