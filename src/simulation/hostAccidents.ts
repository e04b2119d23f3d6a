import type { HostScheduling } from '../generated/prisma/enums.ts'
import { intentsPerCommit } from '../model/bounds.ts'
import { addTo } from '../model/groupBy.ts'
import type { HostId, Instant, ServiceId, WorkerId } from '../model/id.ts'
import type { ServiceIntent, WorkerIntent } from '../model/intent.ts'
import { drainedMessage } from '../rules/hostState.ts'
import { judgeLeases, type LeasedWorker, type WorkerVerdict } from '../rules/workerLeases.ts'
import type { HostLedger } from './hostLedger.ts'
import type { Reporters } from './reporters.ts'
import type { SimulatedStore } from './simulatedStore.ts'
import type { Workers } from './workers.ts'

export interface HostAccidentsOptions {
  readonly store: SimulatedStore
  readonly workers: Workers
  readonly reporters: Reporters
  readonly leaseSeconds: number
  readonly graceSeconds: number
  /** Lets something happen at an instant to come. */
  readonly at: (instant: Instant, act: () => void) => void
  readonly wakePlacement: () => void
  /** The event. */
  readonly say: (host: HostLedger, message: string) => void
}

/** How a host is that is not well. DOWN: its processes ended with it. SILENT: they run on, and nobody hears of them. */
export type Trouble = 'DOWN' | 'SILENT'

interface Silence {
  readonly since: Instant
  trouble: Trouble
  /** It was said that it is not taken for lost. */
  held: boolean
}

/**
 * The life of hosts (R15) as the server leads it: leases, grace and the brake by the same rule, and what becomes of a worker is told to every
 * service that has replicas on its host, as one commit of the service for all at once. The workers of a host fall and rise together.
 */
export class HostAccidents {
  readonly #options: HostAccidentsOptions
  readonly #begin: Instant
  readonly #silences = new Map<HostId, Silence>()
  /** Since when it is as reachable as it is; left out: from the beginning. */
  readonly #since = new Map<WorkerId, Instant>()

  constructor(options: HostAccidentsOptions) {
    this.#options = options
    this.#begin = options.store.now
  }

  fall(hosts: readonly HostLedger[], trouble: Trouble): void {
    const { store, workers, reporters } = this.#options
    for (const host of hosts) {
      const silence = this.#silences.get(host.id)
      if (silence === undefined) this.#silences.set(host.id, { since: store.now, trouble, held: false })
      else if (trouble === 'DOWN') silence.trouble = trouble
      reporters.silence(host.id)
      if (trouble === 'DOWN') workers.die(host.id)
    }
    this.#judgeAt(store.now + this.#options.leaseSeconds * 1_000)
  }

  /** Whoever fell is there again: its worker tells what it runs, or a new one registers that runs nothing. */
  rise(hosts: readonly HostLedger[]): void {
    const { workers, reporters, say, wakePlacement } = this.#options
    const told = new Map<ServiceId, ServiceIntent[]>()
    const fallen = hosts.filter(({ id }) => this.#silences.has(id))
    for (const host of fallen) {
      const trouble = this.#silences.get(host.id)?.trouble
      const wasLost = host.reachability === 'LOST'
      this.#silences.delete(host.id)
      reporters.hear(host.id)
      for (const { id } of host.workers) this.#become(host, id, 'REACHABLE')
      say(host, `Host ${host.name} is back${wasLost ? ', and runs nothing that was replaced' : ''}.`)
      const view = { id: host.id, name: host.name, addresses: host.addresses }
      for (const { id: workerId } of host.workers) {
        const place = { hostId: host.id, workerId }
        const reporter = trouble === 'DOWN' ? reporters.register(place) : null
        const running = workers.allOn(place)
        for (const id of host.replicasOf.keys()) {
          const intent: ServiceIntent =
            reporter === null ? reporters.report(place, running.get(id) ?? [], true) : { kind: 'adopt', reporter, host: view, running: [] }
          addTo(told, id, intent)
        }
      }
    }
    for (const [id, intents] of told) this.#submit(id, intents)
    for (const { id } of fallen) this.#assign(id)
    wakePlacement()
    // The brake waits for somebody who returns.
    if (fallen.length > 0 && this.#silences.size > 0) this.#judgeAt(this.#options.store.now)
  }

  /** An operator's word that hosts are gone which can't be reached. Others stay as they are. */
  lose(hosts: readonly HostLedger[]): void {
    const told: Told[] = []
    for (const host of hosts) {
      for (const { id } of host.workers.filter(({ reachability }) => reachability === 'UNREACHABLE')) {
        this.#become(host, id, 'LOST')
        told.push([host, id])
      }
    }
    this.#tell('lose', told)
  }

  schedule(hosts: readonly HostLedger[], scheduling: HostScheduling): void {
    const before = hosts.filter((host) => host.scheduling === 'DRAINING')
    for (const host of hosts) host.scheduling = scheduling
    if (scheduling === 'DRAINING') {
      this.#tell('drain', workersOf(hosts))
      for (const host of hosts) this.left(host.id)
    } else this.#tell('undrain', workersOf(before))
    this.#options.wakePlacement()
  }

  /** A replica has left it. */
  left(id: HostId): void {
    const host = this.#options.store.hosts.get(id)
    if (host?.scheduling !== 'DRAINING' || host.reachability !== 'REACHABLE' || host.replicasOf.size > 0) return
    this.#options.say(host, drainedMessage(host.name))
  }

  #judgeAt(at: Instant): void {
    this.#options.at(at, () => this.#judge())
  }

  #judge(): void {
    const { store, leaseSeconds, graceSeconds } = this.#options
    const workers = [...store.hosts.values()].flatMap((host) => this.#leased(host))
    const { verdicts, wakeAt } = judgeLeases({ workers, countsFrom: this.#begin, now: store.now, leaseSeconds, graceSeconds })
    const told: Record<WorkerVerdict['to'], Told[]> = { UNREACHABLE: [], LOST: [], HELD: [] }
    for (const verdict of verdicts) this.#take(verdict, told[verdict.to])
    this.#tell('unreach', told.UNREACHABLE)
    this.#tell('lose', told.LOST)
    // What was judged has another end to wait for now.
    if (verdicts.length > 0) this.#judgeAt(store.now)
    else if (wakeAt !== null) this.#judgeAt(wakeAt)
  }

  #take({ worker, to, message }: WorkerVerdict, told: Told[]): void {
    const host = this.#options.store.hosts.get(worker.hostId)
    if (host === undefined) return
    const silence = this.#silences.get(host.id)
    if (silence !== undefined) silence.held = to === 'HELD'
    if (to !== 'HELD') this.#become(host, worker.id, to)
    this.#options.say(host, message)
    told.push([host, worker.id])
  }

  #leased(host: HostLedger): LeasedWorker[] {
    const silence = this.#silences.get(host.id)
    const leaseUntil = silence === undefined ? Number.POSITIVE_INFINITY : silence.since + this.#options.leaseSeconds * 1_000
    const said = {
      hostId: host.id,
      hostName: host.name,
      leaseUntil,
      held: silence?.held ?? false,
      draining: host.scheduling === 'DRAINING',
    }
    return host.workers.map(({ id, reachability }) => {
      const since = this.#since.get(id) ?? this.#begin
      return { id, name: id, reachability, hostSince: since, ...said }
    })
  }

  #become(host: HostLedger, id: WorkerId, reachability: HostLedger['reachability']): void {
    const worker = host.workers.find((other) => other.id === id)
    if (worker === undefined || worker.reachability === reachability) return
    worker.reachability = reachability
    this.#since.set(id, this.#options.store.now)
    if (reachability === 'REACHABLE') host.giveBack(id)
  }

  #tell(kind: WorkerIntent['kind'], workers: readonly Told[]): void {
    const told = new Map<ServiceId, ServiceIntent[]>()
    for (const [host, worker] of workers) for (const id of host.replicasOf.keys()) addTo(told, id, { kind, worker })
    for (const [id, intents] of told) {
      // At most so many rows change in one commit; asked again, the rest.
      while (this.#submit(id, intents));
    }
  }

  /** True: something changed. */
  #submit(id: ServiceId, intents: readonly ServiceIntent[]): boolean {
    let changed = false
    for (let from = 0; from < intents.length; from += intentsPerCommit) {
      const outcomes = this.#options.store.submit(id, ...intents.slice(from, from + intentsPerCommit))
      changed ||= outcomes.some((outcome) => outcome.kind === 'done' && outcome.changed)
    }
    return changed
  }

  /** The worker reads what it is to run, and to stop. */
  #assign(host: HostId): void {
    const { store, workers } = this.#options
    for (const id of store.hosts.get(host)?.replicasOf.keys() ?? []) {
      const { replicas, versions } = store.services.get(id)?.snapshot ?? { replicas: new Map(), versions: new Map() }
      for (const row of replicas.values()) {
        if (row.hostId !== host) continue
        const content = versions.get(row.versionNumber)?.content
        if (content !== undefined && !workers.has(row.id)) workers.given(id, row, content, store.now)
        if (row.state === 'STOPPING') workers.toldToStop(row.id, store.now)
      }
    }
  }
}

/** A worker on its host, of which services are told. */
type Told = readonly [HostLedger, WorkerId]

function workersOf(hosts: readonly HostLedger[]): Told[] {
  return hosts.flatMap((host) => host.workers.map(({ id }): Told => [host, id]))
}
