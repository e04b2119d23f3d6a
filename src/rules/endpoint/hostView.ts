import type { HostView, Replica } from '../../model/service.ts'

/** The two have the same name and the same addresses, in order. */
export function sameHost(a: HostView | undefined, b: HostView): boolean {
  return a !== undefined && a.name === b.name && sameList(a.addresses, b.addresses)
}

/** The service has published exactly these addresses for the replica. */
export function hasPublished(row: Pick<Replica, 'hostAddresses'>, { addresses }: HostView): boolean {
  return sameList(row.hostAddresses, addresses)
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((address, at) => address === b[at])
}
