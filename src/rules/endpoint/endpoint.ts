import type { EndpointAddress } from '../../model/endpoint.ts'
import { isConfirmed } from '../../model/replica.ts'
import type { NamedHost, Replica } from '../../model/service.ts'

/**
 * R12: makes the rows of the endpoint table for a replica: one per port, while its process is confirmed, and none on a
 * host without an address (NO_ADDRESS). A stopping replica stays listed as terminating and not ready until its end. A
 * registration gives the host other addresses before all services have heard of it, so the row holds the addresses that
 * its service has published.
 */
export function addressesOf(replica: Replica, host: NamedHost | null): EndpointAddress[] {
  const addresses = replica.hostAddresses
  const [primary] = addresses
  if (host === null || primary === undefined || !isConfirmed(replica)) return []
  return replica.ports.map((port) => ({
    id: `${replica.id}:${port.name}:${replica.start}`,
    replicaId: replica.id,
    index: replica.index,
    start: replica.start,
    host: host.name,
    address: primary,
    addresses,
    port: port.port,
    protocol: port.protocol,
    portName: port.name,
    ready: replica.ready,
    serving: replica.reportedReady && replica.hostReachable,
    terminating: replica.state === 'STOPPING',
  }))
}

/** The two are equal in every field. */
export function sameAddress(a: EndpointAddress, b: EndpointAddress): boolean {
  return (
    a.id === b.id &&
    a.ready === b.ready &&
    a.serving === b.serving &&
    a.terminating === b.terminating &&
    a.port === b.port &&
    a.host === b.host &&
    a.index === b.index &&
    a.protocol === b.protocol &&
    a.address === b.address &&
    a.addresses.length === b.addresses.length &&
    a.addresses.every((address, at) => address === b.addresses[at])
  )
}
