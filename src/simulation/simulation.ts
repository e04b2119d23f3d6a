import {
  intentsPerCommit,
  graceSeconds as usualGraceSeconds,
  leaseSeconds as usualLeaseSeconds,
} from '../model/bounds.ts'
import type { Content } from '../model/content.ts'
import type { HostId, Instant, ServiceId } from '../model/id.ts'
import type { ReplicaReport, ServiceIntent } from '../model/intent.ts'
import { hostHeldBy } from '../model/replica.ts'
import type { Replica } from '../model/service.ts'
import type { Behaviour } from './behaviour.ts'
import { EventQueue } from './eventQueue.ts'
import { HostAccidents } from './hostAccidents.ts'
import type { HostLedger } from './hostLedger.ts'
import type { Random } from './random.ts'
import { Reporters } from './reporters.ts'
import { SimulatedHosts } from './simulatedHosts.ts'
import { SimulatedPlacer } from './simulatedPlacer.ts'
import type { SimulatedService } from './simulatedService.ts'
import { type SimulatedCommit, SimulatedStore } from './simulatedStore.ts'
import { type WorkerEvent, Workers } from './workers.ts'

export interface SimulationOptions {
  readonly now: Instant
  readonly newId: () => string
  readonly random: Random
  readonly behaviourOf: (serviceId: ServiceId, row: Replica, content: Content) => Behaviour
  readonly onCommit?: (commit: SimulatedCommit) => void
  /** The epoch of the workers' registrations. It must be later than any that reported the rows of a given snapshot. */
  readonly epoch?: number
  readonly leaseSeconds?: number
  readonly graceSeconds?: number
  /** Called with every event of a host. */
  readonly onHost?: (host: HostLedger, message: string) => void
}

type Happening =
  | WorkerEvent
  | { readonly kind: 'wake'; readonly service: SimulatedService }
  | { readonly kind: 'act'; readonly act: () => void }

/** After this many rounds at one instant the rules are taken to go round in circles. */
const roundsAtOnce = 100_000

/**
 * Services on hosts, with a clock of their own: the real rules and the real placement over a store in memory. Things
 * happen only within `step` and `advance`. What is due at one instant happens in the order in which it was put into the
 * queue, and reports and timers make one commit per service. Placement runs when nothing else is due.
 */
export class Simulation {
  readonly store: SimulatedStore
  readonly placer: SimulatedPlacer
  readonly workers: Workers
  readonly hosts: SimulatedHosts
  readonly hostAccidents: HostAccidents
  readonly #queue = new EventQueue<Happening>()
  readonly #reporters: Reporters
  #wantsPlacement = false
  /** How many rounds there were at the present instant. */
  #rounds = 0

  constructor(options: SimulationOptions) {
    const {
      now,
      newId,
      random,
      behaviourOf,
      onCommit,
      leaseSeconds = usualLeaseSeconds,
      graceSeconds = usualGraceSeconds,
    } = options
    this.store = new SimulatedStore({
      now,
      newId,
      onCommit: (service, commit) => {
        this.#applyCommit(service, commit)
        onCommit?.(commit)
      },
    })
    this.placer = new SimulatedPlacer(this.store)
    this.workers = new Workers({ random, behaviourOf, schedule: (at, event) => this.#queue.put(at, event) })
    this.#reporters = new Reporters(options.epoch ?? 1)
    const wakePlacement = () => this.wakePlacement()
    this.hosts = new SimulatedHosts({
      store: this.store,
      wakePlacement,
      onMessage: options.onHost ?? (() => undefined),
    })
    this.hostAccidents = new HostAccidents({
      store: this.store,
      hosts: this.hosts,
      workers: this.workers,
      reporters: this.#reporters,
      leaseSeconds,
      graceSeconds,
      wakePlacement,
      at: (instant, act) => this.at(instant, act),
    })
  }

  /** Takes over a service that the store was given as it is. */
  follow(service: SimulatedService): void {
    this.#armTimer(service)
    this.placer.watch(service)
    this.wakePlacement()
  }

  /** Reports of workers now, as one commit of the service. */
  report(serviceId: ServiceId, reports: readonly ReplicaReport[]): void {
    this.store.submit(serviceId, ...this.#reportsOf(reports))
  }

  /** Lets placement look again. */
  wakePlacement(): void {
    this.#wantsPlacement = true
  }

  /** Lets something happen at a future instant. */
  at(instant: Instant, act: () => void): void {
    this.#queue.put(instant, { kind: 'act', act })
  }

  /** When something happens next; null when nothing ever will. */
  get nextAt(): Instant | null {
    return this.#wantsPlacement ? this.store.now : this.#queue.nextAt
  }

  /** Lets everything happen that is due at the next instant. Returns false when nothing is left to happen. */
  advance(): boolean {
    if (!this.step()) return false
    while (this.nextAt !== null && this.nextAt <= this.store.now) if (!this.step()) return false
    return true
  }

  /** Runs one round: an act, or what is due of workers and timers, or placement. */
  step(): boolean {
    const { nextAt, store } = this
    if (nextAt === null) return false
    this.#rounds = nextAt > store.now ? 0 : this.#rounds + 1
    store.now = Math.max(store.now, nextAt)
    if (this.#rounds > roundsAtOnce) {
      store.fault(null, `The rules do not come to rest: ${roundsAtOnce} rounds at one instant.`)
      return false
    }
    const next = this.#queue.peekDue(store.now)
    if (next === undefined) this.#placeWaiting()
    else if (next.kind === 'act') {
      this.#queue.takeDue(store.now)
      next.act()
    } else this.#runDueEvents()
    return true
  }

  #placeWaiting(): void {
    this.#wantsPlacement = false
    for (const [serviceId, intent] of this.placer.run())
      this.at(this.store.now, () => this.store.submit(serviceId, intent))
  }

  /** Runs what is due of workers and timers, up to the next act, in one commit per service. */
  #runDueEvents(): void {
    const { store } = this
    const { now } = store
    const intents = new Map<SimulatedService, { readonly reports: ReplicaReport[]; tick: boolean }>()
    for (
      let event = this.#queue.peekDue(now);
      event !== undefined && event.kind !== 'act';
      event = this.#queue.peekDue(now)
    ) {
      this.#queue.takeDue(now)
      const service = event.kind === 'wake' ? event.service : store.services.get(event.run.serviceId)
      if (service === undefined) continue
      const due = intents.get(service) ?? { reports: [], tick: false }
      intents.set(service, due)
      if (event.kind === 'worker') due.reports.push(...this.workers.runEvent(event, now))
      else {
        service.wakesAt = null
        due.tick = true
      }
    }
    for (const [service, { reports, tick }] of intents) {
      const due = this.#reportsOf(reports)
      if (tick) due.push({ kind: 'tick' })
      this.#submitInParts(service, due)
      this.#armTimer(service)
    }
  }

  /** Submits in as many commits as it takes. */
  #submitInParts(service: SimulatedService, intents: readonly ServiceIntent[]): void {
    if (intents.length === 0) return
    const { id } = service.snapshot
    this.store.submit(id, ...intents.slice(0, intentsPerCommit))
    if (intents.length > intentsPerCommit)
      this.at(this.store.now, () => this.#submitInParts(service, intents.slice(intentsPerCommit)))
  }

  #reportsOf(reports: readonly ReplicaReport[]): ServiceIntent[] {
    return this.#reporters.reportsOf(reports, (replica) => this.workers.placeOf(replica))
  }

  /** Applies a commit to workers, timers and placement. */
  #applyCommit(service: SimulatedService, { after, change, rows }: SimulatedCommit): void {
    const { now } = this.store
    const left = new Set<HostId>()
    for (const { before, after: row } of rows) {
      const was = before === null ? null : hostHeldBy(before)
      const is = hostHeldBy(row)
      if (was !== null && was !== is) {
        this.workers.forget(row.id)
        left.add(was)
      }
      const content = after.versions.get(row.versionNumber)?.content
      // A silent worker hears of it when it is back.
      if (is === null || !this.#reporters.hears(is)) continue
      if (was !== is && content !== undefined) this.workers.startReplica(after.id, row, content, now)
      if (row.state === 'STOPPING' && before?.state !== 'STOPPING') this.workers.stopReplica(row.id, now)
    }
    for (const id of left) {
      const host = this.store.hosts.get(id)
      if (host !== undefined) this.hosts.write([[host, { kind: 'hostDrained' }]])
    }
    this.#armTimer(service)
    this.placer.watch(service)
    const fact = change.facts.at(-1)
    if (fact?.kind === 'change' && fact.data.wakesPlacement) this.wakePlacement()
  }

  #armTimer(service: SimulatedService): void {
    const { dueAt, wakesAt } = service
    if (dueAt === null || (wakesAt !== null && wakesAt <= dueAt)) return
    service.wakesAt = dueAt
    this.#queue.put(dueAt, { kind: 'wake', service })
  }
}
