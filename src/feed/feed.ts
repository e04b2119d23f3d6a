import type { CommittedFact } from '../model/fact.ts'
import type { HostId, ReplicaId, Revision, ServiceId } from '../model/id.ts'
import type { Database } from '../store/database/database.ts'
import { type EndpointReading, readEndpoint } from '../store/read/readEndpoint.ts'
import { EventsTopic } from './eventsTopic.ts'
import { FeedCounts } from './feedCounts.ts'
import type { Groups } from './group.ts'
import { type ListTopics, listChangeOf } from './listTopics.ts'
import { ServiceTopic } from './serviceTopic.ts'
import { SharedRead, SharedReads } from './sharedRead.ts'
import type { Tail } from './tail.ts'
import { Topic } from './topic.ts'
import { WaitingBytes } from './waitingBytes.ts'

/** One change that concerns a host's assignments. */
export interface HostTopicChange {
  /** Replicas whose assignment may have changed. */
  readonly replicas: readonly ReplicaId[]
  /** The host or one of its workers changed: an epoch may be old now. */
  readonly registration: boolean
}

/** A subscriber's hold on a topic. */
export interface Subscription<T> {
  readonly topic: T
  readonly close: () => void
}

export interface ServiceSubscription extends Subscription<ServiceTopic> {
  /** The table now, with its revision; null: the service does not exist. Begins the topic when it is the first. */
  readonly read: () => Promise<EndpointReading | null>
}

export interface FeedOptions {
  readonly database: Database
  readonly tail: Pick<Tail, 'head' | 'subscribe'>
  /** A subscriber that asked for BOOKMARKs gets one after so long a silence; 15 s when it is left out (R16). */
  readonly bookmarkMillis?: number
  /** At most so many bytes wait for slow readers of this server; 64 MiB when it is left out (R16). */
  readonly waitingBytes?: number
}

/** A list keeps more changes than a service does, because they are small and all services make them. */
const listChangesKept = 4_096

type Lists = { [Name in keyof ListTopics]?: Topic<ListTopics[Name]> }

/**
 * Hands the facts that the tail reads to those who subscribe. Facts come in the order of their revisions, without a gap; a service's facts
 * wake that service's subscribers only (R16). Topics exist while somebody subscribes.
 */
export class Feed {
  readonly database: Database
  readonly bookmarkMillis: number
  readonly counts = new FeedCounts()
  readonly waiting: WaitingBytes
  /** Looks services up by name once for all subscriptions that begin at the same time. */
  readonly lookUps = new SharedReads<ServiceId | null>()
  /** The groups of subscriptions that are alike, by the key that says what makes them so. */
  readonly groups: Groups = new Map()
  readonly #tail: FeedOptions['tail']
  readonly #services = new Map<
    ServiceId,
    { readonly topic: ServiceTopic; readonly reading: SharedRead<EndpointReading | null> }
  >()
  readonly #hosts = new Map<HostId, Topic<HostTopicChange>>()
  #lists: Lists = {}
  #position: Revision = 0n
  #unsubscribe: (() => void) | null = null
  readonly #reaching = new Set<{ readonly revision: Revision; readonly resolve: () => void }>()

  constructor({ database, tail, bookmarkMillis = 15_000, waitingBytes = 67_108_864 }: FeedOptions) {
    this.database = database
    this.waiting = new WaitingBytes(waitingBytes, () => this.counts.closed++)
    this.bookmarkMillis = bookmarkMillis
    this.#tail = tail
  }

  start(): void {
    this.#position = this.#tail.head
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#appendFacts(facts),
      () => this.#dropTopics(),
    )
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = null
    this.#releaseWaiting()
  }

  /** The topics have every fact up to this revision. */
  get position(): Revision {
    return this.#position
  }

  /** How many topics are open. There are none when nobody subscribes. */
  get topics(): number {
    return this.#services.size + this.#hosts.size + Object.keys(this.#lists).length
  }

  /** Resolves when the position has come to `revision`, when facts were missed, and when the feed stops. */
  reach(revision: Revision): Promise<void> {
    if (this.#position >= revision || this.#unsubscribe === null) return Promise.resolve()
    return new Promise((resolve) => this.#reaching.add({ revision, resolve }))
  }

  /** Follows a service. `wake` is called when its topic has changed. */
  openService(serviceId: ServiceId, wake: () => void): ServiceSubscription {
    const open = this.#services.get(serviceId) ?? {
      topic: new ServiceTopic(serviceId),
      reading: new SharedRead(() => readEndpoint(this.database, serviceId)),
    }
    this.#services.set(serviceId, open)
    const { topic, reading } = open
    const unsubscribe = topic.subscribe(wake)
    return {
      topic,
      read: async () => {
        const table = await reading.get()
        if (table !== null) topic.begin(table)
        return table
      },
      close: () => {
        unsubscribe()
        if (topic.subscribers === 0 && this.#services.get(serviceId) === open) this.#services.delete(serviceId)
      },
    }
  }

  /** Follows what concerns a host's assignments. */
  openHost(hostId: HostId, wake: () => void): Subscription<Topic<HostTopicChange>> {
    const topic = this.#hosts.get(hostId) ?? new Topic<HostTopicChange>(this.#position)
    this.#hosts.set(hostId, topic)
    const unsubscribe = topic.subscribe(wake)
    return {
      topic,
      close: () => {
        unsubscribe()
        if (topic.subscribers === 0 && this.#hosts.get(hostId) === topic) this.#hosts.delete(hostId)
      },
    }
  }

  /** Follows all services, hosts or events. */
  openList<Name extends keyof ListTopics>(name: Name, wake: () => void): Subscription<Topic<ListTopics[Name]>> {
    const lists: { [Key in Name]?: Topic<ListTopics[Name]> } = this.#lists
    const topic = lists[name] ?? (this.#newList(name) as Topic<ListTopics[Name]>)
    lists[name] = topic
    const unsubscribe = topic.subscribe(wake)
    return {
      topic,
      close: () => {
        unsubscribe()
        if (topic.subscribers === 0 && this.#lists[name] === (topic as unknown)) delete this.#lists[name]
      },
    }
  }

  #newList(name: keyof ListTopics): unknown {
    return name === 'events' ? new EventsTopic(this.#position) : new Topic(this.#position, listChangesKept)
  }

  /** Drops all topics after facts were trimmed unread: every subscriber gets a new SNAPSHOT. */
  #dropTopics(): void {
    this.#position = this.#tail.head
    const topics = [
      ...[...this.#services.values()].map(({ topic }) => topic),
      ...this.#hosts.values(),
      ...Object.values(this.#lists),
    ]
    this.#services.clear()
    this.#hosts.clear()
    this.#lists = {}
    for (const topic of topics) topic.lose()
    // Whoever waits for a revision that a restored backup no longer has must not wait for ever.
    this.#releaseWaiting()
  }

  #appendFacts(facts: readonly CommittedFact[]): void {
    for (const fact of facts) {
      this.#position = fact.revision
      for (const name of Object.keys(this.#lists) as (keyof ListTopics)[]) this.#appendToList(name, fact)
      this.#appendFact(fact)
    }
    this.#resolveReached()
  }

  #appendToList<Name extends keyof ListTopics>(name: Name, fact: CommittedFact): void {
    const lists: { readonly [Key in Name]?: Topic<ListTopics[Key]> } = this.#lists
    const change = listChangeOf[name](fact)
    if (change !== undefined) lists[name]?.append(fact.revision, change)
  }

  /** Hands a fact to the topics of the service and the hosts that it concerns. A kind of fact that no case handles does not compile. */
  #appendFact({ kind, revision, serviceId, hostId, data }: CommittedFact): void {
    switch (kind) {
      case 'change':
        this.#services.get(serviceId)?.topic.applyChange(revision, data)
        for (const host of data.hosts)
          this.#hosts.get(host)?.append(revision, { replicas: data.replicas, registration: false })
        return
      case 'host':
        if (hostId === null) return
        this.#hosts.get(hostId)?.append(revision, { replicas: [], registration: true })
        return
      case 'eventOnly':
      case 'profile':
      case 'project':
      case 'queue':
        // These concern lists only.
        return
      default:
        kind satisfies never
    }
  }

  #releaseWaiting(): void {
    for (const { resolve } of this.#reaching) resolve()
    this.#reaching.clear()
  }

  #resolveReached(): void {
    for (const waiting of this.#reaching) {
      if (waiting.revision > this.#position) continue
      this.#reaching.delete(waiting)
      waiting.resolve()
    }
  }
}
