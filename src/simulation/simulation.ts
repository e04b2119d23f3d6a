import type { Blocker } from '../model/blocker.ts'
import { rowsPerCommit } from '../model/bounds.ts'
import type { Grant, PlacementHost, PlacementProject, WaitingReplica } from '../model/host.ts'
import type { HostId, Instant, ProjectId, ReplicaId, ServiceId, WorkerId } from '../model/id.ts'
import type { NewService, ReplicaReport, ServiceIntent } from '../model/intent.ts'
import type { Outcome } from '../model/outcome.ts'
import type { Refusal } from '../model/refusal.ts'
import { isPlaced } from '../model/replica.ts'
import type { Replica, ServiceSnapshot } from '../model/service.ts'
import type { ServiceChange } from '../rules/change.ts'
import { closeDraft, createDraft, decide, openDraft } from '../rules/decide.ts'
import { place } from '../rules/placement.ts'
import type { Behaviour } from './behaviour.ts'
import { EventQueue } from './eventQueue.ts'
import { HostLedger } from './hostLedger.ts'
import type { ChangedRow, Fault } from './invariants.ts'
import { ProjectLedger } from './projectLedger.ts'
import type { Random } from './random.ts'
import { SimulatedService } from './simulatedService.ts'
import { type WorkerEvent, Workers } from './workers.ts'

/** One accepted commit of a service. */
export interface SimulatedCommit {
  readonly at: Instant
  readonly before: ServiceSnapshot
  readonly after: ServiceSnapshot
  readonly change: ServiceChange
  readonly rows: readonly ChangedRow[]
}

export interface SimulationOptions {
  readonly now: Instant
  readonly newId: () => string
  readonly random: Random
  readonly behaviourOf: (serviceId: ServiceId, row: Replica, content: Behaved) => Behaviour
  readonly onCommit?: (commit: SimulatedCommit) => void
  /** Of the workers' registrations: later than any that reported the rows of a given snapshot. */
  readonly epoch?: number
}

type Behaved = Parameters<ConstructorParameters<typeof Workers>[0]['behaviourOf']>[2]

type Happening =
  | WorkerEvent
  | { readonly kind: 'wake'; readonly service: SimulatedService }
  | { readonly kind: 'act'; readonly act: () => void }

/** Rounds at one instant after which the rules go round in circles. */
const roundsAtOnce = 100_000

/**
 * Services on hosts with a clock of its own: the real rules and the real placement, over a store in memory. Nothing happens by itself but in
 * `step` and `advance`. What is due at one instant happens in the order of its making, reports and timers as one commit per service; when
 * nothing else is, placement.
 */
export class Simulation {
  now: Instant
  commits = 0
  facts = 0
  /** What broke an invariant, in order. */
  readonly faults: Fault[] = []
  readonly services = new Map<ServiceId, SimulatedService>()
  readonly hosts = new Map<HostId, HostLedger>()
  readonly projects = new Map<ProjectId, ProjectLedger>()
  readonly workers: Workers
  readonly #options: SimulationOptions
  readonly #queue = new EventQueue<Happening>()
  readonly #sequences = new Map<HostId, number>()
  /** Waiting replicas of services that are not simulated. */
  #others: readonly WaitingReplica[] = []
  #told = new Map<ReplicaId, string>()
  readonly #waiting = new Set<SimulatedService>()
  #wantsPlacement = false
  /** At the instant of now. */
  #rounds = 0
  #revision = 0n

  constructor(options: SimulationOptions) {
    this.#options = options
    this.now = options.now
    const { random, behaviourOf } = options
    this.workers = new Workers({ random, behaviourOf, later: (at, event) => this.#queue.put(at, event) })
  }

  addHost(host: PlacementHost): void {
    this.hosts.set(host.id, new HostLedger(host))
    this.#wantsPlacement = true
  }

  addProject(project: PlacementProject): void {
    this.projects.set(project.id, new ProjectLedger(project))
  }

  /** Waiting replicas of other services: they take room when there is some, and keep it. */
  addWaiting(waiting: readonly WaitingReplica[]): void {
    this.#others = waiting
  }

  /** A service as it is. What its replicas do next is up to the caller. */
  addService(snapshot: ServiceSnapshot, queuePriority: number): SimulatedService {
    const service = new SimulatedService(snapshot, queuePriority)
    this.services.set(snapshot.id, service)
    if (snapshot.revision > this.#revision) this.#revision = snapshot.revision
    this.#armTimer(service)
    if (service.waiting.size > 0) this.#waiting.add(service)
    this.#wantsPlacement ||= service.waiting.size > 0
    return service
  }

  create(service: NewService, actor: string, queuePriority: number): Refusal | null {
    const context = { now: this.now, newId: this.#options.newId }
    const draft = createDraft(service, actor, context)
    if ('code' in draft) return draft
    const added = new SimulatedService(draft.base, queuePriority)
    this.services.set(service.id, added)
    this.#accept(added, closeDraft(draft, context))
    return null
  }

  /** One commit of the intents, decided one after the other, now. */
  submit(serviceId: ServiceId, ...intents: readonly ServiceIntent[]): readonly Outcome[] {
    const service = this.services.get(serviceId)
    if (service === undefined || service.snapshot.columns.deletedAt !== null) {
      const refusal = { code: 'NOT_FOUND', message: 'There is no such service.', path: ['input', 'service'] } as const
      return intents.map(() => ({ kind: 'refused', refusal }))
    }
    const context = { now: this.now, newId: this.#options.newId }
    const draft = openDraft(service.snapshot)
    const outcomes = intents.map((intent) => decide(draft, intent, context))
    this.#accept(service, closeDraft(draft, context))
    return outcomes
  }

  /** Reports of workers now, as one commit per service. */
  report(reports: ReadonlyMap<ServiceId, readonly ReplicaReport[]>): void {
    for (const [serviceId, said] of reports) this.submit(serviceId, ...this.#reportsOf(said))
  }

  /** Placement is to look again: room was made. */
  wakePlacement(): void {
    this.#wantsPlacement = true
  }

  /** Lets something happen at an instant to come. */
  at(instant: Instant, act: () => void): void {
    this.#queue.put(instant, { kind: 'act', act })
  }

  /** When something happens next; null: nothing ever does. */
  get nextAt(): Instant | null {
    return this.#wantsPlacement ? this.now : this.#queue.nextAt
  }

  /** Lets everything happen that is next at one instant. False: nothing is left to happen. */
  advance(): boolean {
    if (!this.step()) return false
    while (this.nextAt !== null && this.nextAt <= this.now) if (!this.step()) return false
    return true
  }

  /** One round of it: an act, or what is due of workers and timers, or placement. */
  step(): boolean {
    const { nextAt } = this
    if (nextAt === null) return false
    this.#rounds = nextAt > this.now ? 0 : this.#rounds + 1
    this.now = Math.max(this.now, nextAt)
    if (this.#rounds > roundsAtOnce) {
      this.#fault(null, `The rules do not come to rest: ${roundsAtOnce} rounds at one instant.`)
      return false
    }
    const next = this.#queue.peekDue(this.now)
    if (next === undefined) this.#place()
    else if (next.kind === 'act') {
      this.#queue.takeDue(this.now)
      next.act()
    } else this.#happen()
    return true
  }

  /** What is due of workers and timers, up to the next act: one commit per service. */
  #happen(): void {
    const intents = new Map<SimulatedService, { readonly reports: ReplicaReport[]; tick: boolean }>()
    for (let event = this.#queue.peekDue(this.now); event !== undefined && event.kind !== 'act'; event = this.#queue.peekDue(this.now)) {
      this.#queue.takeDue(this.now)
      const service = event.kind === 'wake' ? event.service : this.services.get(event.run.serviceId)
      if (service === undefined) continue
      const due = intents.get(service) ?? { reports: [], tick: false }
      intents.set(service, due)
      if (event.kind === 'worker') due.reports.push(...this.workers.happens(event, this.now))
      else {
        service.wakesAt = null
        due.tick = true
      }
    }
    for (const [service, { reports, tick }] of intents) {
      const due = this.#reportsOf(reports)
      if (tick) due.push({ kind: 'tick' })
      if (due.length > 0) this.submit(service.snapshot.id, ...due)
      this.#armTimer(service)
    }
  }

  /** One report per worker. */
  #reportsOf(reports: readonly ReplicaReport[]): ServiceIntent[] {
    const byHost = new Map<HostId, ReplicaReport[]>()
    for (const said of reports) {
      const hostId = this.workers.hostOf(said.replica)
      if (hostId === null) continue
      const own = byHost.get(hostId)
      if (own === undefined) byHost.set(hostId, [said])
      else own.push(said)
    }
    return [...byHost].map(([hostId, own]) => {
      const sequence = (this.#sequences.get(hostId) ?? 0) + 1
      this.#sequences.set(hostId, sequence)
      const reporter = { workerId: `worker-of-${hostId}` as WorkerId, hostId, epoch: this.#options.epoch ?? 1 }
      return { kind: 'report', reporter, sequence, reports: own }
    })
  }

  #accept(service: SimulatedService, change: ServiceChange): void {
    const { snapshot: before } = service
    if (change.facts.length === 0) return
    this.commits++
    service.commits++
    this.facts += change.facts.length
    this.#revision += BigInt(change.facts.length)
    const specRevision = change.specFact === null ? before.specRevision : this.#revision - BigInt(change.facts.length - change.specFact)
    const after = { ...change.next, guard: before.guard + 1, revision: this.#revision, specRevision }
    service.snapshot = after
    const rows = rowsOf(before, change)
    service.changed(rows, change.insertedVersions)
    if (service.waiting.size > 0) this.#waiting.add(service)
    else this.#waiting.delete(service)
    service.watch.check(before, after, change, rows, (fault) => this.#fault(after.id, `Service ${after.name}: ${fault}.`))
    this.#apply(change, rows)
    this.#tellWorkers(after, rows)
    this.#armTimer(service)
    const fact = change.facts.at(-1)
    if (fact?.kind === 'change' && fact.data.wakesPlacement) this.#wantsPlacement = true
    this.#options.onCommit?.({ at: this.now, before, after, change, rows })
  }

  #apply(change: ServiceChange, rows: readonly ChangedRow[]): void {
    for (const use of change.hosts) {
      const fault = this.hosts.get(use.hostId)?.apply(use, this.now) ?? null
      if (fault !== null) this.#fault(change.id, fault)
    }
    for (const { before, after } of rows) {
      const from = before !== null && isPlaced(before) ? before.hostId : null
      const to = isPlaced(after) ? after.hostId : null
      if (from === to) continue
      if (from !== null) this.hosts.get(from)?.count(change.id, -1)
      if (to !== null) this.hosts.get(to)?.count(change.id, 1)
    }
    const project = this.projects.get(change.quota.projectId)
    if (project === undefined) return
    project.usedReplicas += change.quota.delta
    const { name, maxReplicas, usedReplicas } = project
    if (change.quota.delta > 0 && maxReplicas !== null && usedReplicas > maxReplicas) {
      this.#fault(change.id, `Project ${name} has ${usedReplicas} replicas: more than ${maxReplicas}.`)
    }
  }

  #tellWorkers(after: ServiceSnapshot, rows: readonly ChangedRow[]): void {
    for (const { before, after: row } of rows) {
      const was = before !== null && isPlaced(before) ? before.hostId : null
      const is = isPlaced(row) ? row.hostId : null
      if (was !== null && was !== is) this.workers.forget(row.id)
      const content = after.versions.get(row.versionNumber)?.content
      if (is !== null && was !== is && content !== undefined) this.workers.given(after.id, row, content, this.now)
      if (row.state === 'STOPPING' && before?.state !== 'STOPPING') this.workers.toldToStop(row.id, this.now)
    }
  }

  #armTimer(service: SimulatedService): void {
    const { dueAt, wakesAt } = service
    if (dueAt === null || (wakesAt !== null && wakesAt <= dueAt)) return
    service.wakesAt = dueAt
    this.#queue.put(dueAt, { kind: 'wake', service })
  }

  /** R14: everything that waits, at once. */
  #place(): void {
    this.#wantsPlacement = false
    const waiting: WaitingReplica[] = [...this.#others]
    for (const service of this.#waiting) for (const replica of service.waitingReplicas()) waiting.push(replica)
    if (waiting.length === 0) return
    const { now } = this
    const { grants, holds } = place({ waiting, hosts: [...this.hosts.values()], projects: [...this.projects.values()], now })
    const told = new Map(holds.map(({ replica, blocker }) => [replica, `${blocker.reason} ${blocker.message}`]))
    const news = holds.filter(({ replica }) => this.#told.get(replica) !== told.get(replica))
    this.#told = told
    for (const [serviceId, own] of byService(grants)) {
      if (!this.services.has(serviceId)) this.#grantOthers(own)
      // All of one placement fit beside one another, so that those past the cap of rows go on in the next commit.
      else for (const part of inParts(own)) this.at(now, () => this.submit(serviceId, { kind: 'grant', grants: part }))
    }
    for (const [serviceId, own] of byService<{ serviceId: ServiceId; replica: ReplicaId; blocker: Blocker }>(news)) {
      if (!this.services.has(serviceId)) continue
      for (const part of inParts(own)) this.at(now, () => this.submit(serviceId, { kind: 'hold', holds: part }))
    }
  }

  #grantOthers(grants: readonly Grant[]): void {
    const granted = new Map(grants.map((grant) => [grant.replicaId, grant]))
    this.#others = this.#others.filter((replica) => {
      const grant = granted.get(replica.id)
      if (grant === undefined) return true
      const host = this.hosts.get(grant.hostId)
      host?.count(replica.serviceId, 1)
      host?.apply(
        {
          hostId: grant.hostId,
          allocation: grant.allocation,
          cpuMillis: replica.cpuMillis,
          memoryMiB: replica.memoryMiB,
          lastPort: grant.lastPort,
          portsTaken: grant.ports.map((port) => ({ ...port, replicaId: replica.id })),
          portsReleased: [],
          portsQuarantined: [],
        },
        this.now,
      )
      const project = this.projects.get(replica.projectId)
      if (project !== undefined && !replica.holdsQuota) project.usedReplicas++
      return false
    })
  }

  #fault(serviceId: ServiceId | null, message: string): void {
    this.faults.push({ at: this.now, serviceId, message })
  }
}

function rowsOf(before: ServiceSnapshot, change: ServiceChange): ChangedRow[] {
  return [
    ...change.updatedReplicas.map((after) => ({ before: before.replicas.get(after.id) ?? null, after })),
    ...change.insertedReplicas.map((after) => ({ before: null, after })),
  ]
}

function* inParts<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += rowsPerCommit) yield items.slice(from, from + rowsPerCommit)
}

function byService<T extends { readonly serviceId: ServiceId }>(items: readonly T[]): ReadonlyMap<ServiceId, readonly T[]> {
  const groups = new Map<ServiceId, T[]>()
  for (const item of items) {
    const group = groups.get(item.serviceId)
    if (group === undefined) groups.set(item.serviceId, [item])
    else group.push(item)
  }
  return groups
}
