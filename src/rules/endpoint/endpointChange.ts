import type { EndpointAddress } from '../../model/endpoint.ts'
import type { Replica } from '../../model/service.ts'
import { type Draft, hostOf } from '../draft/draft.ts'
import type { RowChange } from '../draft/rowChange.ts'
import { addressesOf, sameAddress } from './endpoint.ts'

export interface EndpointDifference {
  /** Addresses that are new or changed. */
  readonly upserted: EndpointAddress[]
  /** The ids of addresses that left the table. */
  readonly removed: string[]
  /** The old values of the upserted addresses that were listed, and of the removed ones. */
  readonly replaced: EndpointAddress[]
}

/** R12: derives the endpoint table's difference from the rows that changed. */
export function endpointChangeOf(draft: Draft, changes: readonly RowChange[]): EndpointDifference {
  const difference: EndpointDifference = { upserted: [], removed: [], replaced: [] }
  for (const { before, after } of changes) compare(draft, before, after, difference)
  return difference
}

function compare(draft: Draft, before: Replica | null, after: Replica, difference: EndpointDifference): void {
  const was =
    before === null || before.hostId === null ? [] : addressesOf(before, draft.base.hosts.get(before.hostId) ?? null)
  const is = addressesOf(after, hostOf(draft, after.hostId))
  for (const address of is) {
    const old = was.find((other) => other.id === address.id)
    if (old !== undefined && sameAddress(old, address)) continue
    difference.upserted.push(address)
    if (old !== undefined) difference.replaced.push(old)
  }
  for (const old of was) {
    if (is.some((address) => address.id === old.id)) continue
    difference.removed.push(old.id)
    difference.replaced.push(old)
  }
}
