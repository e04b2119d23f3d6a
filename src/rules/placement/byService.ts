import { groupBy } from '../../model/groupBy.ts'
import type { ServiceId } from '../../model/id.ts'

/** What belongs to each service, in the order given. */
export function byService<T extends { readonly serviceId: ServiceId }>(
  items: readonly T[],
): ReadonlyMap<ServiceId, readonly T[]> {
  return groupBy(items, ({ serviceId }) => serviceId)
}
