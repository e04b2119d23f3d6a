import type { HostId, ReplicaId } from '../../model/id.ts'
import { hostLeftBy } from '../../model/replica.ts'
import type { Draft } from './draft.ts'

/** R15: the host that a replica leaves because a user moves it, while it is there: its twin gets no place on that host. */
export function hostLeftFor(draft: Draft, twinOf: ReplicaId | null): HostId | null {
  const leaving = twinOf === null ? undefined : draft.alive.get(twinOf)
  return leaving === undefined ? null : hostLeftBy(leaving)
}
