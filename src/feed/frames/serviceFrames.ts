import type { ReplicaId, Revision, ServiceId } from '../../model/id.ts'
import type { Database } from '../../store/database/database.ts'
import { readAliveReplicas } from '../../store/read/readAliveReplicas.ts'
import { partsOf } from '../follower.ts'
import type { ServiceFrames } from '../serviceFollower.ts'

type Kind = 'SNAPSHOT' | 'DELTA' | 'BOOKMARK' | 'GONE'

/** A frame about a service; its objects are read when it is made, never older than `revision`. */
export interface ServiceFrame {
  readonly kind: Kind
  readonly serviceId: ServiceId
  readonly revision: Revision
}

/** A DELTA for every change of the service or its replicas. */
export function serviceFrames(serviceId: ServiceId): ServiceFrames<ServiceFrame> {
  const frame = (kind: Kind, revision: Revision): ServiceFrame => ({ kind, serviceId, revision })
  return {
    snapshot: (revision) => frame('SNAPSHOT', revision),
    delta: (revision) => frame('DELTA', revision),
    bookmark: (revision) => frame('BOOKMARK', revision),
    gone: (revision) => frame('GONE', revision),
  }
}

/** A DELTA for every change of a rollout of the service: the frame shows the current one. */
export function rolloutFrames(serviceId: ServiceId): ServiceFrames<ServiceFrame> {
  const frames = serviceFrames(serviceId)
  return {
    ...frames,
    delta: (revision, changes, addresses) =>
      changes.some(({ rollouts }) => rollouts.length > 0) ? frames.delta(revision, changes, addresses) : null,
  }
}

/** A part of a frame has at most so many objects (R16). */
export const listPart = 500

/** A part of a frame about the replicas of a service; they are read when it is made, never older than `revision`. */
export interface ReplicaFrame {
  readonly kind: Kind
  readonly revision: Revision
  /** Whether this is the final part. */
  readonly last: boolean
  readonly replicas: readonly ReplicaId[]
  /** Those that have ended: they are among `replicas` a last time. */
  readonly ended: readonly ReplicaId[]
  /** Those that have changed and are not in the view. */
  readonly removed: readonly ReplicaId[]
}

/** Returns those of the replicas that a view shows, as they are now. Null shows all. */
export type ReplicaView = ((ids: readonly ReplicaId[]) => Promise<readonly ReplicaId[]>) | null

/** A SNAPSHOT of the replicas that have not ended, then those that changed, each once. */
export function replicaFrames(
  database: Database,
  serviceId: ServiceId,
  view: ReplicaView = null,
): ServiceFrames<ReplicaFrame> {
  const frame = (kind: Kind, revision: Revision): ReplicaFrame => ({
    kind,
    revision,
    last: true,
    replicas: [],
    ended: [],
    removed: [],
  })
  return {
    snapshot: (revision) => frame('SNAPSHOT', revision),
    delta: (revision, changes) => {
      const replicas = [...new Set(changes.flatMap((change) => change.replicas))]
      const ended = [...new Set(changes.flatMap((change) => change.ended))]
      return replicas.length === 0 ? null : { kind: 'DELTA', revision, last: true, replicas, ended, removed: [] }
    },
    bookmark: (revision) => frame('BOOKMARK', revision),
    gone: (revision) => frame('GONE', revision),
    expand: async (whole) => {
      const ids = whole.kind === 'SNAPSHOT' ? await readAliveReplicas(database, serviceId) : whole.replicas
      const ended = new Set(whole.ended)
      const shown = new Set(view === null ? ids : await view(ids))
      const removed = whole.kind === 'DELTA' ? ids.filter((id) => !shown.has(id)) : []
      return partsOf(
        ids.filter((id) => shown.has(id)),
        listPart,
      ).map(({ part, last }) => ({
        ...whole,
        last,
        replicas: part,
        ended: part.filter((id) => ended.has(id)),
        removed: last ? removed : [],
      }))
    },
  }
}
