import type { EndpointAddress } from '../../model/endpoint.ts'
import type { Revision, ServiceId } from '../../model/id.ts'
import { type EndpointView, inView, netOf } from './endpointNet.ts'
import type { Feed } from './feed.ts'
import { FeedRefusal } from './feedRefusal.ts'
import type { FrameSource, Pulled } from './frameStream.ts'
import { serviceGone } from './serviceFrames.ts'

/** A frame of an endpoint subscription, exact at its revision. */
export interface EndpointFrame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'GONE'
  readonly serviceId: ServiceId
  readonly revision: Revision
  /** The whole table at `revision`, whatever the view; null on GONE. */
  readonly addresses: readonly EndpointAddress[] | null
  /** The net of the interval as the view shows it; on a SNAPSHOT everything in the view is added. */
  readonly added: readonly EndpointAddress[]
  readonly removed: readonly EndpointAddress[]
}

/**
 * Follows a service's endpoint: a SNAPSHOT, then a DELTA for every change that the view shows. Changes that come while the subscriber is
 * slow are one frame; more of them than the feed keeps are a new SNAPSHOT (R16).
 */
export function endpointFrames(feed: Feed, serviceId: ServiceId, view: EndpointView, wake: () => void): FrameSource<EndpointFrame> {
  let subscription = feed.openService(serviceId, wake)
  let cursor: Revision | null = null

  const snapshot = (revision: Revision, addresses: readonly EndpointAddress[]): Pulled<EndpointFrame> => {
    cursor = revision
    const added = addresses.filter((address) => inView(address, view))
    return { frame: { kind: 'SNAPSHOT', serviceId, revision, addresses, added, removed: [] }, last: false }
  }

  const pull = async (): Promise<Pulled<EndpointFrame> | null> => {
    if (subscription.topic.lost) {
      subscription.close()
      subscription = feed.openService(serviceId, wake)
      cursor = null
    }
    const { topic } = subscription
    if (cursor === null) {
      const table = await subscription.read()
      if (table === null) throw new FeedRefusal(serviceGone)
      return snapshot(table.revision, table.addresses)
    }
    if (topic.goneAt !== null) {
      return { frame: { kind: 'GONE', serviceId, revision: topic.goneAt, addresses: null, added: [], removed: [] }, last: true }
    }
    const { revision } = topic
    if (revision <= cursor) return null
    const changes = topic.since(cursor)
    if (changes === null) return snapshot(revision, topic.addresses)
    const net = netOf(
      changes.map((change) => change.addresses),
      view,
    )
    // The view is the same at both ends of an interval without a net change, so the next net may begin at its end.
    cursor = revision
    if (net.added.length === 0 && net.removed.length === 0) return null
    return { frame: { kind: 'DELTA', serviceId, revision, addresses: topic.addresses, ...net }, last: false }
  }

  return { pull, close: () => subscription.close() }
}
