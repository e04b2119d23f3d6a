import type { PortOfHost, WatchedPort } from '../../../src/model/watchedPort.ts'
import type { ApiClient } from './apiClient.ts'

/** What a worker would see of a replica; `ports` left out: those that the replica has now. */
export interface Seen {
  readonly replica: string
  readonly start?: number
  readonly state: 'STARTING' | 'RUNNING' | 'ENDED'
  readonly ready?: boolean
  readonly endReason?: string
  readonly ports?: readonly number[]
  readonly takenPorts?: readonly string[]
}

const register = `mutation ($input: RegisterWorkerInput!) { registerWorker(input: $input) {
  __typename
  ... on RegisterWorkerPayload { worker epoch leaseSeconds graceSeconds stop portsToWatch { port protocol seconds } }
  ... on Error { code message }
} }`

const report = `mutation ($input: ReportReplicasInput!) { reportReplicas(input: $input) {
  __typename ... on ReportReplicasPayload { fenced portsToWatch { port protocol seconds } } ... on Error { code message }
} }`

const portsOf = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Replica { id ports { port } } } }`

/** So many ids the API takes at once. */
const mostIds = 100

const renew = `mutation ($input: RenewLeaseInput!) { renewLease(input: $input) {
  __typename ... on RenewLeasePayload { resync } ... on Error { code message }
} }`

interface PortsOf {
  readonly nodes: readonly ({ readonly id: string; readonly ports: readonly { readonly port: number }[] } | null)[]
}

export interface Registered {
  readonly __typename: string
  readonly worker: string
  readonly epoch: number
  readonly stop: readonly string[]
  readonly portsToWatch?: readonly WatchedPort[]
  readonly code?: string
}

export interface Reported {
  readonly __typename: string
  readonly fenced?: readonly string[]
  readonly portsToWatch?: readonly WatchedPort[] | null
  readonly code?: string
}

/** Of all registrations here, so that each is later than those before it of the same state directory. */
let registrations = 0

/** A worker whose replicas are whatever a test says: it speaks the protocol and runs nothing. */
export class HandWorker {
  readonly #client: ApiClient
  readonly #reader: ApiClient
  readonly name: string
  id = ''
  epoch = 0
  #sequence = 0

  /** `reader`: who may look up the ports of its replicas, where the token of a worker may not. */
  constructor(client: ApiClient, name = 'hand', reader = client) {
    this.#client = client.worker
    this.#reader = reader
    this.name = name
  }

  async register(running: readonly Seen[] = [], over: Record<string, unknown> = {}): Promise<Registered> {
    const { registerWorker } = await this.#client.ask<{ registerWorker: Registered }>(register, {
      input: {
        name: this.name,
        host: this.name,
        addresses: ['127.0.0.1'],
        cpuMillis: 64_000,
        memoryMiB: 65_536,
        portRange: { from: 20_000, to: 29_999 },
        softwareVersion: 'test',
        protocolVersion: 1,
        stateDirectoryId: `of ${this.name}`,
        registrationNumber: ++registrations,
        running: await this.#reportsOf(running),
        ...over,
      },
    })
    if (registerWorker.__typename === 'RegisterWorkerPayload') {
      this.id = registerWorker.worker
      this.epoch = registerWorker.epoch
      this.#sequence = 0
    }
    return registerWorker
  }

  report(...seen: readonly Seen[]): Promise<Reported> {
    return this.#report(seen, false)
  }

  /** Everything that it runs. */
  reportAll(...seen: readonly Seen[]): Promise<Reported> {
    return this.#report(seen, true)
  }

  async renew(): Promise<{ __typename: string; resync?: boolean; code?: string }> {
    const input = { worker: this.id, epoch: this.epoch }
    const answer = await this.#client.ask<{ renewLease: { __typename: string; resync?: boolean } }>(renew, { input })
    return answer.renewLease
  }

  async reportFreePorts(...ports: readonly PortOfHost[]): Promise<{ __typename: string; changed?: boolean }> {
    const input = { worker: this.id, epoch: this.epoch, ports }
    const query = `mutation ($input: ReportFreePortsInput!) { reportFreePorts(input: $input) {
      __typename ... on ReportFreePortsPayload { changed } ... on Error { code message } } }`
    const answer = await this.#client.ask<{ reportFreePorts: { __typename: string; changed?: boolean } }>(query, {
      input,
    })
    return answer.reportFreePorts
  }

  /** Renews its lease again and again, until the returned function is called. What becomes of it is looked at by nobody. */
  keepAlive(millis = 300): () => void {
    const timer = setInterval(() => void this.renew().catch(() => undefined), millis)
    return () => clearInterval(timer)
  }

  async #report(seen: readonly Seen[], full: boolean): Promise<Reported> {
    const sequence = ++this.#sequence
    const input = { worker: this.id, epoch: this.epoch, sequence, full, reports: await this.#reportsOf(seen) }
    const answer = await this.#client.ask<{ reportReplicas: Reported }>(report, { input })
    return answer.reportReplicas
  }

  async #reportsOf(seen: readonly Seen[]): Promise<readonly Record<string, unknown>[]> {
    const ids = seen.flatMap(({ replica, ports }) =>
      ports === undefined && replica.startsWith('Replica_') ? [replica] : [],
    )
    const known: PortsOf['nodes'][number][] = []
    for (let from = 0; from < ids.length; from += mostIds)
      known.push(...(await this.#reader.ask<PortsOf>(portsOf, { ids: ids.slice(from, from + mostIds) })).nodes)
    return seen.map((one) => {
      const ports = known.find((node) => node?.id === one.replica)?.ports ?? []
      return { start: 1, ready: false, ports: ports.map(({ port }) => port), ...one }
    })
  }
}
