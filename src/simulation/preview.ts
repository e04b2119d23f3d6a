import type { Blocker } from '../model/blocker.ts'
import type { Content } from '../model/content.ts'
import type { PlacementHost, PlacementProject, WaitingReplica } from '../model/host.ts'
import type { Instant } from '../model/id.ts'
import type { ServiceIntent } from '../model/intent.ts'
import { isProbed } from '../model/isProbed.ts'
import type { Refusal } from '../model/refusal.ts'
import { isConfirmed, isPlaced } from '../model/replica.ts'
import type { Replica, ServiceSnapshot } from '../model/service.ts'
import { settingsWarnings } from '../rules/service/settingsWarnings.ts'
import { type Behaviour, wellBehaved } from './behaviour.ts'
import type { ChangedRow } from './invariants.ts'
import { PlanSteps, type RolloutPlan } from './plan.ts'
import { Random } from './random.ts'
import type { SimulatedService } from './simulatedService.ts'
import { Simulation } from './simulation.ts'

/** The bounds of a preview. What is not done within them counts as not done. */
export const previewBounds = {
  /** Seconds of virtual time. */
  seconds: 604_800,
  commits: 20_000,
  /**
   * How many rows all commits together may visit. A commit costs as much as the service has replicas, so a big service
   * gets fewer commits.
   */
  rowVisits: 6_000_000,
  /** How many waiting replicas of other services are looked at: the first of the queue. */
  others: 2_000,
} as const

export interface PreviewInput {
  readonly snapshot: ServiceSnapshot
  readonly queuePriority: number
  readonly project: PlacementProject
  readonly hosts: readonly PlacementHost[]
  /** Everything that waits, of this service and of others. */
  readonly waiting: readonly WaitingReplica[]
  readonly projects: readonly PlacementProject[]
  readonly intent: ServiceIntent
  readonly readyAfterSeconds: number
  readonly now: Instant
}

/**
 * Works out what an intent would lead to if nothing else happened: every new replica is ready `readyAfterSeconds` after
 * it is placed, every stopped one ends at the signal, and none fails. Other services keep what they have, and their
 * waiting replicas take their turn.
 */
export class Preview {
  readonly refusal: Refusal | null
  readonly #simulation: Simulation
  readonly #service: SimulatedService
  readonly #input: PreviewInput
  readonly #steps: PlanSteps
  #rowVisits = 0
  #doneAt: Instant | null = null

  constructor(input: PreviewInput) {
    const { snapshot, now } = input
    this.#input = input
    this.#steps = new PlanSteps(now, snapshot.columns)
    let ids = 0
    this.#simulation = new Simulation({
      now,
      // These ids come after all that exist, in the order of creation.
      newId: () => `z${String(++ids).padStart(9, '0')}`,
      random: new Random(1),
      behaviourOf: (_serviceId, _row, content) => this.#behaviourOf(content),
      epoch: 1 + [...snapshot.replicas.values()].reduce((latest, row) => Math.max(latest, row.reportedEpoch), 0),
      onCommit: ({ at, after, rows }) => this.#recordCommit(at, after, rows),
    })
    this.#addHostsAndProjects()
    this.#service = this.#simulation.store.addService(snapshot, input.queuePriority)
    this.#simulation.follow(this.#service)
    for (const row of snapshot.replicas.values()) this.#continueReplica(row)
    const [outcome] = this.#simulation.store.submit(snapshot.id, input.intent)
    this.refusal = outcome?.kind === 'refused' ? outcome.refusal : null
  }

  /**
   * Goes on by one round, which is a commit in most cases. Returns false when nothing is left to happen or a bound is
   * reached.
   */
  step(): boolean {
    return this.#doneAt === null && this.#cut === null && this.#simulation.step()
  }

  /** Returns the plan as far as it was worked out. */
  plan(): RolloutPlan {
    const finished = this.#doneAt !== null
    const durationSeconds = this.#doneAt === null ? null : Math.ceil((this.#doneAt - this.#input.now) / 1_000)
    return {
      ...this.#steps.summary(),
      durationSeconds,
      finished,
      watchSeconds: this.#watchSeconds(),
      blocker: finished ? null : this.#blocker(),
      warnings: this.#warnings(),
    }
  }

  /** Mistakes of the rules that the preview has found. */
  get faults(): readonly string[] {
    return this.#simulation.store.faults.map(({ message }) => message)
  }

  #addHostsAndProjects(): void {
    const { snapshot, hosts, waiting, project, projects } = this.#input
    const own = new Map<string, number>()
    for (const { hostId } of snapshot.replicas.values())
      if (hostId !== null) own.set(hostId, (own.get(hostId) ?? 0) + 1)
    for (const host of hosts) {
      const ledger = this.#simulation.store.addHost(host)
      const count = own.get(host.id)
      if (count !== undefined) ledger.replicasOf.set(snapshot.id, count)
    }
    for (const other of projects) this.#simulation.store.addProject(other)
    this.#simulation.store.addProject(project)
    const others = waiting.filter(({ serviceId }) => serviceId !== snapshot.id)
    others.sort((a, b) => b.queuePriority - a.queuePriority || a.createdAt - b.createdAt)
    this.#simulation.placer.addOthers(others.slice(0, previewBounds.others))
  }

  /** Schedules what a replica that is there already does next. */
  #continueReplica(row: Replica): void {
    const { snapshot, now, readyAfterSeconds } = this.#input
    const content = snapshot.versions.get(row.versionNumber)?.content
    if (content === undefined || !isPlaced(row)) return
    const { workers } = this.#simulation
    if (row.state === 'STARTING' && !isConfirmed(row)) workers.startReplica(snapshot.id, row, content, now)
    else {
      // A replica that should be ready by now and is not is not expected to become ready.
      const readyAt = (row.startedAt ?? now) + readyAfterSeconds * 1_000
      workers.adoptReplica(snapshot.id, row, content, !row.reportedReady && readyAt >= now ? readyAt : null)
    }
    if (row.state === 'STOPPING') workers.stopReplica(row.id, row.stoppingAt ?? now)
  }

  #behaviourOf(content: Content): Behaviour {
    const { readyAfterSeconds: seconds } = this.#input
    const after = { from: seconds, to: seconds }
    // Without a probe a replica is ready with its process.
    return isProbed(content) ? { ...wellBehaved, readyAfterSeconds: after } : { ...wellBehaved, startSeconds: after }
  }

  #recordCommit(at: Instant, after: ServiceSnapshot, rows: readonly ChangedRow[]): void {
    this.#rowVisits += after.replicas.size
    this.#steps.take(at, after.columns, rows)
    const { columns, rollout } = after
    const n = columns.desiredReplicas
    const done = rollout.finishedAt !== null && columns.availableReplicas >= n && columns.activeReplicas === n
    if (done) this.#doneAt ??= at
  }

  /** The bound that was reached; null when none was. */
  get #cut(): string | null {
    const { now, commits } = this.#simulation.store
    const { seconds, commits: most, rowVisits } = previewBounds
    if (now - this.#input.now > seconds * 1_000) return `${seconds} s`
    if (commits >= most) return `${most} commits`
    return this.#rowVisits >= rowVisits ? `${commits} commits of so many replicas` : null
  }

  #watchSeconds(): number {
    const { finishedAt, watchUntil } = this.#service.snapshot.rollout
    return finishedAt === null || watchUntil === null ? 0 : Math.ceil((watchUntil - finishedAt) / 1_000)
  }

  #warnings(): readonly string[] {
    const { columns, versions } = this.#service.snapshot
    const target = versions.get(columns.versionNumber)
    return target === undefined ? [] : settingsWarnings(columns.settings, target.content)
  }

  #blocker(): Blocker | null {
    const { columns, rollout } = this.#service.snapshot
    const blocker = rollout.blocker ?? columns.blockers[0] ?? null
    if (blocker === null) return null
    const known = blocker.replica !== null && this.#input.snapshot.replicas.has(blocker.replica)
    const cut = this.#cut
    const message = cut === null ? blocker.message : `The preview ends here, after ${cut}; by then: ${blocker.message}`
    return { ...blocker, message, replica: known ? blocker.replica : null }
  }
}
