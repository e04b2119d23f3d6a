import { type EndpointAddress, type EndpointView, inView } from '../../model/endpoint.ts'
import type { Revision, ServiceId } from '../../model/id.ts'
import { netOf } from '../endpointNet.ts'
import type { ServiceFrames } from '../serviceFollower.ts'

/** A frame of an endpoint subscription, exact at its revision. */
export interface EndpointFrame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'BOOKMARK' | 'GONE'
  readonly serviceId: ServiceId
  readonly revision: Revision
  readonly view: EndpointView
  /** The whole table at `revision`, whatever the view. */
  readonly addresses: readonly EndpointAddress[]
  /** The net of the interval as the view shows it; on a SNAPSHOT everything in the view is added. */
  readonly added: readonly EndpointAddress[]
  readonly removed: readonly EndpointAddress[]
}

/** A SNAPSHOT, then a DELTA for every change that the view shows; several changes in one frame are told as their net. */
export function endpointFrames(serviceId: ServiceId, view: EndpointView): ServiceFrames<EndpointFrame> {
  const unchanged = (
    kind: 'BOOKMARK' | 'GONE',
    revision: Revision,
    addresses: readonly EndpointAddress[],
  ): EndpointFrame => {
    return { kind, serviceId, revision, view, addresses, added: [], removed: [] }
  }
  return {
    snapshot: (revision, addresses) => {
      const added = addresses.filter((address) => inView(address, view))
      return { kind: 'SNAPSHOT', serviceId, revision, view, addresses, added, removed: [] }
    },
    delta: (revision, changes, addresses) => {
      const net = netOf(
        changes.map((change) => change.addresses),
        view,
      )
      if (net.added.length === 0 && net.removed.length === 0) return null
      return { kind: 'DELTA', serviceId, revision, view, addresses, ...net }
    },
    bookmark: (revision, addresses) => unchanged('BOOKMARK', revision, addresses),
    gone: (revision) => unchanged('GONE', revision, []),
  }
}
