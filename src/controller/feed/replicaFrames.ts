import type { ReplicaId, Revision, ServiceId } from '../../model/id.ts'
import type { Database } from '../../store/database.ts'
import type { Feed } from './feed.ts'
import type { FrameSource, Pulled } from './frameStream.ts'
import { serviceFrames } from './serviceFrames.ts'

/** Replicas in one frame (R16). */
export const replicasPerFrame = 500

/** A part of a frame about the replicas of a service; they are read when it is sent, never older than `revision`. */
export interface ReplicaFrame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'GONE'
  readonly revision: Revision
  /** The final part. */
  readonly last: boolean
  readonly replicas: readonly ReplicaId[]
  /** Those that have ended: they are among `replicas` a last time. */
  readonly ended: readonly ReplicaId[]
}

/**
 * Follows the replicas of a service: a SNAPSHOT of those that have not ended, then those that changed. What has many replicas comes in parts;
 * a part is only ids until it is sent.
 */
export function replicaFrames(feed: Feed, database: Database, serviceId: ServiceId, wake: () => void): FrameSource<ReplicaFrame> {
  const frames = serviceFrames(feed, serviceId, wake)
  const parts: Pulled<ReplicaFrame>[] = []

  const pull = async (): Promise<Pulled<ReplicaFrame> | null> => {
    const part = parts.shift()
    if (part !== undefined) return part
    const pulled = await frames.pull()
    if (pulled === null) return null
    const { kind, revision, replicas, ended } = pulled.frame
    const ids = kind === 'SNAPSHOT' ? await readAlive(database, serviceId) : replicas
    const gone = new Set(ended)
    for (let from = 0; from === 0 || from < ids.length; from += replicasPerFrame) {
      const own = ids.slice(from, from + replicasPerFrame)
      const last = from + replicasPerFrame >= ids.length
      parts.push({ frame: { kind, revision, last, replicas: own, ended: own.filter((id) => gone.has(id)) }, last: pulled.last && last })
    }
    return parts.shift() ?? null
  }

  return { pull, close: frames.close }
}

async function readAlive(database: Database, serviceId: ServiceId): Promise<readonly ReplicaId[]> {
  const rows = await database.prisma.replica.findMany({
    where: { serviceId, state: { not: 'ENDED' } },
    select: { id: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ id }) => id as ReplicaId)
}
