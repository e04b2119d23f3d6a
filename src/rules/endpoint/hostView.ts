import type { HostView, Replica } from '../../model/service.ts'

/** Equal name and addresses, in order. */
export function sameHost(a: HostView | undefined, b: HostView): boolean {
  return a !== undefined && a.name === b.name && sameList(a.addresses, b.addresses)
}

/** The service has told just these of the replica's host. */
export function hasTold(row: Pick<Replica, 'hostAddresses'>, { addresses }: HostView): boolean {
  return row.hostAddresses !== null && sameList(row.hostAddresses, addresses)
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((address, at) => address === b[at])
}
