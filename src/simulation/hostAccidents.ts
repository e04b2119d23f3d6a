import { addTo } from '../model/groupBy.ts'
import type { HostId, Instant, ServiceId } from '../model/id.ts'
import type { ServiceIntent } from '../model/intent.ts'
import { judgeLeases, type LeasedWorker } from '../rules/hosts/workerLeases.ts'
import type { HostLedger } from './hostLedger.ts'
import type { Reporters } from './reporters.ts'
import type { SimulatedHosts } from './simulatedHosts.ts'
import type { SimulatedStore } from './simulatedStore.ts'
import type { Workers } from './workers.ts'

export interface HostAccidentsOptions {
  readonly store: SimulatedStore
  readonly hosts: SimulatedHosts
  readonly workers: Workers
  readonly reporters: Reporters
  readonly leaseSeconds: number
  readonly graceSeconds: number
  /** Lets something happen at a future instant. */
  readonly at: (instant: Instant, act: () => void) => void
  readonly wakePlacement: () => void
}

/** What is wrong with a host. DOWN: its processes have ended with it. SILENT: they run on, and nobody hears of them. */
export type Trouble = 'DOWN' | 'SILENT'

interface Silence {
  readonly since: Instant
  trouble: Trouble
}

/**
 * Lets hosts fall and rise, and judges their workers by leases, grace and the brake, as the server does (R15). The
 * workers of a host fall and rise together.
 */
export class HostAccidents {
  readonly #options: HostAccidentsOptions
  readonly #begin: Instant
  readonly #silences = new Map<HostId, Silence>()

  constructor(options: HostAccidentsOptions) {
    this.#options = options
    this.#begin = options.store.now
  }

  fall(hosts: readonly HostLedger[], trouble: Trouble): void {
    const { store, workers, reporters } = this.#options
    for (const host of hosts) {
      const silence = this.#silences.get(host.id)
      if (silence === undefined) this.#silences.set(host.id, { since: store.now, trouble })
      else if (trouble === 'DOWN') silence.trouble = trouble
      reporters.silence(host.id)
      if (trouble === 'DOWN') workers.die(host.id)
    }
    this.#judgeLeasesAt(store.now + this.#options.leaseSeconds * 1_000)
  }

  /** Lets the hosts return: the worker reports what it runs, or a new one registers that runs nothing. */
  rise(hosts: readonly HostLedger[]): void {
    const { hosts: simulated, reporters, wakePlacement } = this.#options
    const fallen = hosts.flatMap((host) => {
      const silence = this.#silences.get(host.id)
      return silence === undefined ? [] : [{ host, isNew: silence.trouble === 'DOWN' }]
    })
    for (const { host } of fallen) {
      this.#silences.delete(host.id)
      reporters.hear(host.id)
    }
    simulated.write(
      fallen.flatMap(({ host }) =>
        host.workers.map(({ id }) => [host, { kind: 'returnWorker', workerId: id }] as const),
      ),
    )
    const intentsByService = new Map<ServiceId, ServiceIntent[]>()
    for (const { host, isNew } of fallen) this.#collectIntents(host, isNew, intentsByService)
    for (const [id, intents] of intentsByService) simulated.submit(id, intents)
    for (const { host } of fallen) this.#assignReplicas(host.id)
    wakePlacement()
    // The brake waits for somebody to return, so the others are judged again.
    if (fallen.length > 0 && this.#silences.size > 0) this.#judgeLeasesAt(this.#options.store.now)
  }

  /** Collects what the services hear of the workers of a host that is back. */
  #collectIntents(host: HostLedger, isNew: boolean, intentsByService: Map<ServiceId, ServiceIntent[]>): void {
    const { workers, reporters } = this.#options
    const view = { id: host.id, name: host.name, addresses: host.addresses }
    for (const { id: workerId } of host.workers) {
      const place = { hostId: host.id, workerId }
      const reporter = isNew ? reporters.register(place) : null
      const running = workers.allOn(place)
      for (const id of host.replicasOf.keys()) {
        const intent: ServiceIntent =
          reporter === null
            ? reporters.report(place, running.get(id) ?? [], true)
            : { kind: 'adopt', reporter, host: view, running: [] }
        addTo(intentsByService, id, intent)
      }
    }
  }

  #judgeLeasesAt(at: Instant): void {
    this.#options.at(at, () => this.#judgeLeases())
  }

  #judgeLeases(): void {
    const { store, hosts, leaseSeconds, graceSeconds } = this.#options
    const workers = [...store.hosts.values()].flatMap((host) => this.#leasedWorkersOf(host))
    const { verdicts, wakeAt } = judgeLeases({
      workers,
      countsFrom: this.#begin,
      now: store.now,
      leaseSeconds,
      graceSeconds,
    })
    hosts.write(
      verdicts.flatMap(({ worker, to, reason, message }) => {
        const host = store.hosts.get(worker.hostId)
        return host === undefined
          ? []
          : [[host, { kind: 'judgeWorker', workerId: worker.id, to, reason, message }] as const]
      }),
    )
    // Whoever was judged waits for another instant now.
    if (verdicts.length > 0) this.#judgeLeasesAt(store.now)
    else if (wakeAt !== null) this.#judgeLeasesAt(wakeAt)
  }

  #leasedWorkersOf({
    id: hostId,
    name: hostName,
    reachabilitySince: hostSince,
    scheduling,
    workers,
  }: HostLedger): LeasedWorker[] {
    const silence = this.#silences.get(hostId)
    const leaseUntil =
      silence === undefined ? Number.POSITIVE_INFINITY : silence.since + this.#options.leaseSeconds * 1_000
    return workers.map(({ id, name, reachability, held, draining }) => ({
      id,
      name,
      hostId,
      hostName,
      reachability,
      since: hostSince,
      leaseUntil,
      hostSince,
      held,
      draining: draining || scheduling === 'DRAINING',
    }))
  }

  /** The worker reads what it is to run and to stop. */
  #assignReplicas(host: HostId): void {
    const { store, workers } = this.#options
    for (const id of store.hosts.get(host)?.replicasOf.keys() ?? []) {
      const { replicas, versions } = store.services.get(id)?.snapshot ?? { replicas: new Map(), versions: new Map() }
      for (const row of replicas.values()) {
        if (row.hostId !== host) continue
        const content = versions.get(row.versionNumber)?.content
        if (content !== undefined && !workers.has(row.id)) workers.startReplica(id, row, content, store.now)
        if (row.state === 'STOPPING') workers.stopReplica(row.id, store.now)
      }
    }
  }
}
