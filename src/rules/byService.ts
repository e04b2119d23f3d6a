import type { ServiceId } from '../model/id.ts'

/** What belongs to each service, in the order given. */
export function byService<T extends { readonly serviceId: ServiceId }>(items: readonly T[]): ReadonlyMap<ServiceId, readonly T[]> {
  const groups = new Map<ServiceId, T[]>()
  for (const item of items) {
    const group = groups.get(item.serviceId)
    if (group === undefined) groups.set(item.serviceId, [item])
    else group.push(item)
  }
  return groups
}
