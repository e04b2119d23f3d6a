import type { CommittedFact, ServiceFactData } from '../../model/fact.ts'
import type { HostId, Revision, ServiceId } from '../../model/id.ts'
import type { Database } from '../../store/database.ts'
import { readEndpoint } from '../../store/readEndpoint.ts'
import type { Tail } from '../../store/tail.ts'
import { HostTopic } from './hostTopic.ts'
import { type EndpointReading, ServiceTopic } from './serviceTopic.ts'
import { SharedRead } from './sharedRead.ts'

/** A subscriber's hold on a topic. */
export interface ServiceSubscription {
  readonly topic: ServiceTopic
  /** The table now, with its revision; null: the service does not exist. Begins the topic when it is the first. */
  readonly read: () => Promise<EndpointReading | null>
  readonly close: () => void
}

export interface HostSubscription {
  readonly topic: HostTopic
  readonly close: () => void
}

interface OpenServiceTopic {
  readonly topic: ServiceTopic
  readonly reading: SharedRead<EndpointReading | null>
}

/**
 * Hands the facts that the tail reads to those who subscribe. Facts come in the order of their revisions, without a gap; a service's facts
 * wake that service's subscribers only (R16). Topics exist while somebody subscribes.
 */
export class Feed {
  readonly #database: Database
  readonly #tail: Tail
  readonly #services = new Map<ServiceId, OpenServiceTopic>()
  readonly #hosts = new Map<HostId, HostTopic>()
  #position: Revision = 0n
  #unsubscribe: (() => void) | null = null

  constructor(options: { readonly database: Database; readonly tail: Tail }) {
    this.#database = options.database
    this.#tail = options.tail
  }

  start(): void {
    this.#position = this.#tail.head
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#take(facts),
      () => this.#lose(),
    )
  }

  stop(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = null
  }

  /** Open topics: nobody subscribes where there are none. */
  get topics(): number {
    return this.#services.size + this.#hosts.size
  }

  /** Follows a service. `wake` is called when its topic has changed. */
  openService(serviceId: ServiceId, wake: () => void): ServiceSubscription {
    const open = this.#services.get(serviceId) ?? this.#openTopic(serviceId)
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
  openHost(hostId: HostId, wake: () => void): HostSubscription {
    const topic = this.#hosts.get(hostId) ?? new HostTopic(hostId, this.#position)
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

  #openTopic(serviceId: ServiceId): OpenServiceTopic {
    const open = {
      topic: new ServiceTopic(serviceId),
      reading: new SharedRead(() => readEndpoint(this.#database, serviceId)),
    }
    this.#services.set(serviceId, open)
    return open
  }

  /** Facts were trimmed before they were read here: every subscriber gets a new SNAPSHOT. */
  #lose(): void {
    this.#position = this.#tail.head
    const topics = [...[...this.#services.values()].map(({ topic }) => topic), ...this.#hosts.values()]
    this.#services.clear()
    this.#hosts.clear()
    for (const topic of topics) topic.lose()
  }

  #take(facts: readonly CommittedFact[]): void {
    for (const fact of facts) {
      this.#position = fact.revision
      if (fact.kind === 'host' && fact.hostId !== null) {
        this.#hosts.get(fact.hostId)?.take(fact.revision, { replicas: [], registration: true })
      }
      if (fact.kind !== 'change' || fact.serviceId === null) continue
      const data = fact.data as ServiceFactData
      this.#services.get(fact.serviceId)?.topic.take(fact.revision, data)
      for (const host of data.hosts) this.#hosts.get(host)?.take(fact.revision, { replicas: data.replicas, registration: false })
    }
  }
}
