import type { HostView } from '../model/service.ts'

/** Equal name and addresses, in order. */
export function sameHost(a: HostView | undefined, b: HostView): boolean {
  if (a === undefined || a.name !== b.name || a.addresses.length !== b.addresses.length) return false
  return a.addresses.every((address, at) => address === b.addresses[at])
}
