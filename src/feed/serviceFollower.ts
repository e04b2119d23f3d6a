import type { EndpointAddress } from '../model/endpoint.ts'
import type { Revision, ServiceId } from '../model/id.ts'
import { readServiceFacts } from '../store/read/readServiceFacts.ts'
import type { Entry } from './changeLog.ts'
import type { Feed, ServiceSubscription } from './feed.ts'
import { FeedRefusal, serviceGone } from './feedRefusal.ts'
import type { Follower, OpenFollower, Recalled } from './follower.ts'
import { isCreation } from './serviceListChange.ts'
import { type ServiceTopicChange, serviceChangeOf } from './serviceTopic.ts'

/** Makes the frames of one kind of subscription to a service. `addresses` is the endpoint table at the frame's revision. */
export interface ServiceFrames<Frame> {
  snapshot(revision: Revision, addresses: readonly EndpointAddress[]): Frame
  delta(revision: Revision, changes: readonly ServiceTopicChange[], addresses: readonly EndpointAddress[]): Frame | null
  bookmark(revision: Revision, addresses: readonly EndpointAddress[]): Frame
  gone(revision: Revision): Frame
  expand?(frame: Frame): Promise<readonly Frame[]>
}

/** Opens a follower of a service that makes frames of one kind. */
export function serviceFollower<Frame>(
  feed: Feed,
  serviceId: ServiceId,
  frames: ServiceFrames<Frame>,
): OpenFollower<Frame, ServiceTopicChange> {
  return (wake) => new ServiceFollower(feed, serviceId, frames, wake)
}

class ServiceFollower<Frame> implements Follower<Frame, ServiceTopicChange> {
  readonly #feed: Feed
  readonly #serviceId: ServiceId
  readonly #frames: ServiceFrames<Frame>
  readonly #subscription: ServiceSubscription

  constructor(feed: Feed, serviceId: ServiceId, frames: ServiceFrames<Frame>, wake: () => void) {
    this.#feed = feed
    this.#serviceId = serviceId
    this.#frames = frames
    this.#subscription = feed.openService(serviceId, wake)
  }

  async begin(): Promise<void> {
    if ((await this.#subscription.read()) === null) throw new FeedRefusal(serviceGone)
  }

  get #topic() {
    return this.#subscription.topic
  }

  get revision(): Revision {
    const { position } = this.#feed
    const { revision } = this.#topic
    // The first reading of a topic may be ahead of the facts.
    if (revision > position) return revision
    return position
  }

  get lost(): boolean {
    return this.#topic.lost
  }

  get goneAt(): Revision | null {
    return this.#topic.goneAt
  }

  remembers(cursor: Revision): boolean {
    return this.since(cursor) !== null
  }

  since(cursor: Revision): readonly Entry<ServiceTopicChange>[] | null {
    return this.#topic.since(cursor)
  }

  /** A cursor from before the service was created belongs to an earlier service of the same name, so it gets a SNAPSHOT. */
  async recall(cursor: Revision): Promise<Recalled<ServiceTopicChange> | null> {
    const read = await readServiceFacts(this.#feed.database, this.#serviceId, cursor)
    if (read === null || read.facts.some(({ data }) => isCreation(data))) return null
    return {
      head: read.head,
      changes: read.facts.map(({ revision, data }) => ({ revision, change: serviceChangeOf(data) })),
    }
  }

  snapshot(): Frame {
    return this.#frames.snapshot(this.revision, this.#topic.addresses)
  }

  delta(_from: Revision, changes: readonly Entry<ServiceTopicChange>[]): Frame | null {
    const { addresses } = this.#topic
    const revision = changes.at(-1)?.revision ?? this.revision
    return this.#frames.delta(
      revision,
      changes.map(({ change }) => change),
      addresses,
    )
  }

  bookmark(revision: Revision): Frame {
    return this.#frames.bookmark(revision, this.#topic.addresses)
  }

  gone(revision: Revision): Frame {
    return this.#frames.gone(revision)
  }

  async expand(frame: Frame): Promise<readonly Frame[]> {
    return this.#frames.expand?.(frame) ?? [frame]
  }

  close(): void {
    this.#subscription.close()
  }
}
