import type { EndpointAddress } from '../../src/model/endpoint.ts'
import { type EndpointView, inView } from '../../src/model/endpoint.ts'

/** What a subscriber with this view has, as it writes it down: id and readiness, by id. */
export function shownOf(
  addresses: readonly EndpointAddress[],
  view: EndpointView,
): readonly (readonly [string, boolean])[] {
  return [...addresses]
    .filter((address) => inView(address, view))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, ready }) => [id, ready])
}
