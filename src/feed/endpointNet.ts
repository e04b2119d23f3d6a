import { type EndpointAddress, type EndpointView, inView } from '../model/endpoint.ts'
import { sameAddress } from '../rules/endpoint/endpoint.ts'

/** An address before and after one change. Null means that it was not, or is not, in the table. */
export interface AddressChange {
  readonly before: EndpointAddress | null
  readonly after: EndpointAddress | null
}

export interface EndpointNet {
  /** New in the view, or changed. */
  readonly added: readonly EndpointAddress[]
  /** No longer in the view, as they last were in it. */
  readonly removed: readonly EndpointAddress[]
}

/**
 * The net of several changes, oldest first, as a view shows it. An address that came and went in between is in neither list; one that turned
 * unready left the view of those who see only ready ones.
 */
export function netOf(changes: readonly ReadonlyMap<string, AddressChange>[], view: EndpointView): EndpointNet {
  const net = new Map<string, AddressChange>()
  for (const change of changes) {
    for (const [id, { before, after }] of change)
      net.set(id, { before: net.has(id) ? (net.get(id)?.before ?? null) : before, after })
  }
  const added: EndpointAddress[] = []
  const removed: EndpointAddress[] = []
  for (const { before, after } of net.values()) {
    const was = before !== null && inView(before, view) ? before : null
    const is = after !== null && inView(after, view) ? after : null
    if (is !== null && (was === null || !sameAddress(was, is))) added.push(is)
    if (is === null && was !== null) removed.push(was)
  }
  return { added, removed }
}
