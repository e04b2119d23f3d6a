import type { ReplicaId, Revision, ServiceId } from '../../model/id.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Feed } from './feed.ts'
import { FeedRefusal } from './feedRefusal.ts'
import type { FrameSource, Pulled } from './frameStream.ts'
import type { ServiceTopicChange } from './serviceTopic.ts'

export const serviceGone: Refusal = {
  code: 'NOT_FOUND',
  message: 'The service was deleted before the subscription began: look at `services` for those that exist.',
  path: [],
}

/** A frame about a service whose objects are read now, never older than `revision`. */
export interface ServiceFrame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'GONE'
  readonly serviceId: ServiceId
  readonly revision: Revision
  /** Replicas created, changed or ended since the last frame, each once; none on a SNAPSHOT. */
  readonly replicas: readonly ReplicaId[]
  /** Of those, the ones that have ended. */
  readonly ended: readonly ReplicaId[]
}

/** Follows a service: a SNAPSHOT, then a DELTA for every change; changes that come while the subscriber is slow are one frame. */
export function serviceFrames(feed: Feed, serviceId: ServiceId, wake: () => void): FrameSource<ServiceFrame> {
  let subscription = feed.openService(serviceId, wake)
  let cursor: Revision | null = null

  const frame = (kind: ServiceFrame['kind'], revision: Revision, changes: readonly ServiceTopicChange[]): Pulled<ServiceFrame> => {
    cursor = revision
    const replicas = [...new Set(changes.flatMap((change) => change.replicas))]
    const ended = [...new Set(changes.flatMap((change) => change.ended))]
    return { frame: { kind, serviceId, revision, replicas, ended }, last: kind === 'GONE' }
  }

  const pull = async (): Promise<Pulled<ServiceFrame> | null> => {
    if (subscription.topic.lost) {
      subscription.close()
      subscription = feed.openService(serviceId, wake)
      cursor = null
    }
    const { topic } = subscription
    if (cursor === null) {
      const table = await subscription.read()
      if (table === null) throw new FeedRefusal(serviceGone)
      return frame('SNAPSHOT', table.revision, [])
    }
    if (topic.goneAt !== null) return frame('GONE', topic.goneAt, [])
    const { revision } = topic
    if (revision <= cursor) return null
    const changes = topic.since(cursor)
    return changes === null ? frame('SNAPSHOT', revision, []) : frame('DELTA', revision, changes)
  }

  return { pull, close: () => subscription.close() }
}
