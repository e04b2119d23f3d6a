import type { PlacementHost, PlacementProject } from '../model/host.ts'
import type { HostId, Instant, ProjectId, ServiceId } from '../model/id.ts'
import type { NewService, ServiceIntent } from '../model/intent.ts'
import type { Outcome } from '../model/outcome.ts'
import type { Refusal } from '../model/refusal.ts'
import { hostHeldBy } from '../model/replica.ts'
import type { ServiceSnapshot } from '../model/service.ts'
import { closeDraft } from '../rules/commit/close.ts'
import { decide } from '../rules/commit/decide.ts'
import type { ServiceChange } from '../rules/draft/change.ts'
import { isFull, openDraft } from '../rules/draft/draft.ts'
import { createDraft } from '../rules/service/create.ts'
import { HostLedger } from './hostLedger.ts'
import type { ChangedRow, Fault } from './invariants.ts'
import { SimulatedService } from './simulatedService.ts'

/** A project's quota as placement sees it, kept up to date by what services take and give back. */
type ProjectLedger = { -readonly [Key in keyof PlacementProject]: PlacementProject[Key] }

/** One accepted commit of a service. */
export interface SimulatedCommit {
  readonly at: Instant
  readonly before: ServiceSnapshot
  readonly after: ServiceSnapshot
  readonly change: ServiceChange
  readonly rows: readonly ChangedRow[]
}

export interface SimulatedStoreOptions {
  readonly now: Instant
  readonly newId: () => string
  readonly onCommit: (service: SimulatedService, commit: SimulatedCommit) => void
}

/**
 * Services, hosts and projects in memory. A commit is the same as in the database: it is decided on a snapshot and
 * applied as a whole. After each one the invariants are checked. Nobody else writes, so no guard is ever refused.
 */
export class SimulatedStore {
  now: Instant
  commits = 0
  facts = 0
  /** Everything that broke an invariant, in order. */
  readonly faults: Fault[] = []
  readonly services = new Map<ServiceId, SimulatedService>()
  readonly hosts = new Map<HostId, HostLedger>()
  readonly projects = new Map<ProjectId, ProjectLedger>()
  readonly #options: SimulatedStoreOptions
  #revision = 0n

  constructor(options: SimulatedStoreOptions) {
    this.#options = options
    this.now = options.now
  }

  addHost(host: PlacementHost): HostLedger {
    const ledger = new HostLedger(host, this.now)
    this.hosts.set(host.id, ledger)
    return ledger
  }

  addProject(project: PlacementProject): void {
    this.projects.set(project.id, { ...project })
  }

  /** Adds a service as it is. */
  addService(snapshot: ServiceSnapshot, queuePriority: number): SimulatedService {
    const service = new SimulatedService(snapshot, queuePriority)
    this.services.set(snapshot.id, service)
    if (snapshot.revision > this.#revision) this.#revision = snapshot.revision
    return service
  }

  create(service: NewService, actor: string, queuePriority: number): Refusal | null {
    const context = { now: this.now, newId: this.#options.newId }
    const draft = createDraft(service, this.#limitOf(service.projectId), actor, context)
    if ('code' in draft) return draft
    const added = new SimulatedService(draft.base, queuePriority)
    this.services.set(service.id, added)
    this.#accept(added, closeDraft(draft, context))
    return null
  }

  /** Decides the intents one after the other, now, in as many commits as their rows need. */
  submit(serviceId: ServiceId, ...intents: readonly ServiceIntent[]): readonly Outcome[] {
    const service = this.services.get(serviceId)
    if (service === undefined || service.snapshot.columns.deletedAt !== null) {
      const refusal = { code: 'NOT_FOUND', message: 'There is no such service.', path: ['input', 'service'] } as const
      return intents.map(() => ({ kind: 'refused', refusal }))
    }
    const context = { now: this.now, newId: this.#options.newId }
    const maxReplicas = this.#limitOf(service.snapshot.projectId)
    const draft = openDraft({ ...service.snapshot, maxReplicas })
    const outcomes: Outcome[] = []
    for (const intent of intents) {
      if (isFull(draft)) break
      const outcome = decide(draft, intent, context)
      if (outcome.kind === 'unfinished') break
      outcomes.push(outcome)
    }
    this.#accept(service, closeDraft(draft, context))
    const rest = intents.slice(outcomes.length)
    return rest.length === 0 ? outcomes : [...outcomes, ...this.submit(serviceId, ...rest)]
  }

  #limitOf(projectId: ProjectId): number | null {
    return this.projects.get(projectId)?.maxReplicas ?? null
  }

  fault(serviceId: ServiceId | null, message: string): void {
    this.faults.push({ at: this.now, serviceId, message })
  }

  #accept(service: SimulatedService, change: ServiceChange): void {
    const { facts, specFact } = change
    if (facts.length === 0) return
    const { snapshot: before } = service
    this.commits++
    this.facts += facts.length
    this.#revision += BigInt(facts.length)
    const specRevision = specFact === null ? before.specRevision : this.#revision - BigInt(facts.length - specFact)
    const after = { ...change.next, guard: before.guard + 1, revision: this.#revision, specRevision }
    const rows = rowsOf(before, change)
    service.accept(after, rows, change.insertedVersions)
    service.watch.check(before, after, change, rows, (fault) =>
      this.fault(after.id, `Service ${after.name}: ${fault}.`),
    )
    this.#applyHosts(change, rows)
    this.#applyQuota(change)
    this.#options.onCommit(service, { at: this.now, before, after, change, rows })
  }

  #applyHosts(change: ServiceChange, rows: readonly ChangedRow[]): void {
    for (const use of change.hosts) {
      const fault = this.hosts.get(use.hostId)?.apply(use, this.now) ?? null
      if (fault !== null) this.fault(change.id, fault)
    }
    for (const { before, after } of rows) {
      const from = before === null ? null : hostHeldBy(before)
      const to = hostHeldBy(after)
      if (from === to) continue
      const faults = [
        before === null || from === null ? null : this.hosts.get(from)?.count(change.id, before.workerId, before, -1),
        to === null ? null : this.hosts.get(to)?.count(change.id, after.workerId, after, 1),
      ]
      for (const fault of faults) if (typeof fault === 'string') this.fault(change.id, fault)
    }
  }

  #applyQuota({ id, quota: { projectId, delta } }: ServiceChange): void {
    const project = this.projects.get(projectId)
    if (project === undefined) return
    project.usedReplicas += delta
    const { name, maxReplicas, usedReplicas } = project
    if (delta > 0 && maxReplicas !== null && usedReplicas > maxReplicas) {
      this.fault(id, `Project ${name} has ${usedReplicas} replicas: more than ${maxReplicas}.`)
    }
  }
}

function rowsOf(before: ServiceSnapshot, change: ServiceChange): ChangedRow[] {
  return [
    ...change.updatedReplicas.map((after) => ({ before: before.replicas.get(after.id) ?? null, after })),
    ...change.insertedReplicas.map((after) => ({ before: null, after })),
  ]
}
