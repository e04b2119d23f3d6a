import type { Content } from '../model/content.ts'
import { addTo } from '../model/groupBy.ts'
import type { HostId, Instant, ReplicaId, ServiceId, WorkerId } from '../model/id.ts'
import type { ReplicaReport } from '../model/intent.ts'
import { isProbed } from '../model/isProbed.ts'
import { isConfirmed } from '../model/replica.ts'
import { decideRestart } from '../model/restart.ts'
import type { Replica } from '../model/service.ts'
import type { Behaviour } from './behaviour.ts'
import type { Random } from './random.ts'
import type { WorkerPlace } from './reporters.ts'

type Step = 'start' | 'ready' | 'crash' | 'stopped'

/**
 * The next step of a replica's process. It is void if the replica's story has taken another turn since, which `turn`
 * tells.
 */
export interface WorkerEvent {
  readonly kind: 'worker'
  readonly run: Run
  readonly step: Step
  readonly turn: number
}

/** One replica on its host, as its worker knows it. */
interface Run {
  readonly replica: ReplicaId
  readonly serviceId: ServiceId
  readonly hostId: HostId
  readonly workerId: WorkerId
  readonly ports: readonly number[]
  readonly content: Content
  readonly behaviour: Behaviour
  start: number
  isConfirmed: boolean
  isReady: boolean
  isStopping: boolean
  /** The report of its end, which may not have arrived. */
  ended: ReplicaReport | null
  /** Counts the turns of the story; steps that were scheduled before the last turn do not happen. */
  turn: number
  /** When it was restarted in place, in seconds. */
  readonly restarts: number[]
}

export interface WorkersOptions {
  readonly random: Random
  readonly behaviourOf: (serviceId: ServiceId, row: Replica, content: Content) => Behaviour
  readonly schedule: (at: Instant, event: WorkerEvent) => void
}

/**
 * All workers of a simulation: what they would do with the replicas they are given, as reports. A replica's story:
 *
 *     started → ready → crash → (started again in place, by the restart policy, or ended)
 *     told to stop → drain, if it was ready → signal → ended within the grace
 */
export class Workers {
  readonly #options: WorkersOptions
  readonly #runs = new Map<ReplicaId, Run>()
  readonly #onHost = new Map<HostId, Set<Run>>()

  constructor(options: WorkersOptions) {
    this.#options = options
  }

  /** The replica was placed, so its process starts. */
  startReplica(serviceId: ServiceId, row: Replica, content: Content, now: Instant): void {
    const run = this.#addRun(serviceId, row, content, { isConfirmed: false, isReady: false })
    if (run !== null) this.#schedule(run, 'start', now + this.#options.random.millis(run.behaviour.startSeconds))
  }

  /** The replica runs already. `readyAt` is null if it is ready or will not become ready. */
  adoptReplica(serviceId: ServiceId, row: Replica, content: Content, readyAt: Instant | null): void {
    const run = this.#addRun(serviceId, row, content, { isConfirmed: isConfirmed(row), isReady: row.reportedReady })
    if (run !== null && readyAt !== null) this.#schedule(run, 'ready', readyAt)
  }

  /** The replica is to stop: it serves on for drainSeconds if it was ready, and then has the grace to end. */
  stopReplica(replica: ReplicaId, now: Instant): void {
    const run = this.#runs.get(replica)
    if (run === undefined || run.isStopping) return
    run.isStopping = true
    const { drainSeconds, graceSeconds } = run.content.stop
    const drain = run.isReady ? drainSeconds * 1_000 : 0
    const ends = Math.min(this.#options.random.millis(run.behaviour.stopSeconds), graceSeconds * 1_000)
    this.#cancelSteps(run)
    this.#schedule(run, 'stopped', now + drain + ends)
  }

  /** The replica has left its host. */
  forget(replica: ReplicaId): void {
    const run = this.#runs.get(replica)
    if (run === undefined) return
    run.turn = Number.POSITIVE_INFINITY
    this.#runs.delete(replica)
    this.#onHost.get(run.hostId)?.delete(run)
  }

  /** The machine is off, so everything that ran there is gone. */
  die(host: HostId): void {
    for (const { replica } of this.#onHost.get(host) ?? []) this.forget(replica)
  }

  /** Reports everything that a worker has, by service, as a full report does. */
  allOn({ hostId, workerId }: WorkerPlace): ReadonlyMap<ServiceId, readonly ReplicaReport[]> {
    const all = new Map<ServiceId, ReplicaReport[]>()
    for (const run of this.#onHost.get(hostId) ?? []) {
      if (run.workerId !== workerId) continue
      const latest = run.ended ?? report(run, { state: run.isConfirmed ? 'RUNNING' : 'STARTING', ready: run.isReady })
      addTo(all, run.serviceId, latest)
    }
    return all
  }

  /** Returns the worker's reports at the event, in order, and schedules the replica's next steps. */
  runEvent({ run, step, turn }: WorkerEvent, now: Instant): readonly ReplicaReport[] {
    if (turn !== run.turn) return []
    switch (step) {
      case 'start':
        return this.#startProcess(run, now)
      case 'ready':
        run.isReady = true
        return [report(run, { ready: true })]
      case 'crash':
        return this.#endProcess(run, run.behaviour.exitCode, now)
      case 'stopped':
        return [ended(run, 'STOPPED', 0, null)]
    }
  }

  /** Ends the replica's process, as a crash does. Returns no report if there is none. */
  crash(replica: ReplicaId, exitCode: number, now: Instant): readonly ReplicaReport[] {
    const run = this.#runs.get(replica)
    return run === undefined ? [] : this.#endProcess(run, exitCode, now)
  }

  /** Changes the result of the replica's probe from now on. */
  probe(replica: ReplicaId, ready: boolean): readonly ReplicaReport[] {
    const run = this.#runs.get(replica)
    if (run === undefined) return []
    run.isReady = ready
    return [report(run, { ready })]
  }

  has(replica: ReplicaId): boolean {
    return this.#runs.has(replica)
  }

  /** Says where the replica runs. */
  placeOf(replica: ReplicaId): WorkerPlace | null {
    return this.#runs.get(replica) ?? null
  }

  #addRun(serviceId: ServiceId, row: Replica, content: Content, is: Pick<Run, 'isConfirmed' | 'isReady'>): Run | null {
    const { id: replica, hostId, workerId, start } = row
    if (hostId === null || workerId === null) return null
    const behaviour = this.#options.behaviourOf(serviceId, row, content)
    const place = { hostId, workerId }
    const run: Run = {
      replica,
      serviceId,
      ...place,
      ports: row.ports.map(({ port }) => port),
      content,
      behaviour,
      start,
      ...is,
      isStopping: false,
      ended: null,
      turn: 0,
      restarts: [],
    }
    this.#runs.set(replica, run)
    const onHost = this.#onHost.get(hostId)
    if (onHost === undefined) this.#onHost.set(hostId, new Set([run]))
    else onHost.add(run)
    return run
  }

  #startProcess(run: Run, now: Instant): ReplicaReport[] {
    const { behaviour } = run
    const { random } = this.#options
    const { readyAfterSeconds, crashAfterSeconds } = behaviour
    this.#cancelSteps(run)
    if (run.start === 1 && run.content.ports.length > 0 && random.chance(behaviour.portTakenChance)) {
      return [ended(run, 'PORT_TAKEN', null, 'another process listens on its port')]
    }
    if (random.chance(behaviour.startFailsChance))
      return [ended(run, 'START_FAILED', null, 'the command could not be started')]
    const readyAfter = readyAfterSeconds === null ? null : random.millis(readyAfterSeconds)
    if (crashAfterSeconds !== null && random.chance(behaviour.crashChance)) {
      this.#schedule(run, 'crash', now + random.millis(crashAfterSeconds))
    }
    run.isConfirmed = true
    run.isReady = readyAfter === 0 || !isProbed(run.content)
    if (readyAfter !== null && readyAfter > 0) this.#schedule(run, 'ready', now + readyAfter)
    return [report(run, { ready: run.isReady })]
  }

  #endProcess(run: Run, exitCode: number, now: Instant): ReplicaReport[] {
    const outcome = exitCode === 0 ? 'completed' : 'failed'
    const decision = decideRestart(run.content.restart, outcome, run.restarts, now / 1_000)
    this.#cancelSteps(run)
    run.isConfirmed = false
    run.isReady = false
    if (decision.kind === 'end') return [ended(run, decision.endReason, exitCode, null)]
    run.restarts.push(now / 1_000)
    run.start++
    this.#schedule(
      run,
      'start',
      now + decision.afterSeconds * 1_000 + this.#options.random.millis(run.behaviour.startSeconds),
    )
    return [report(run, { state: 'STARTING', exitCode })]
  }

  #cancelSteps(run: Run): void {
    run.turn++
  }

  #schedule(run: Run, step: Step, at: Instant): void {
    this.#options.schedule(at, { kind: 'worker', run, step, turn: run.turn })
  }
}

function report(run: Run, over: Partial<ReplicaReport> = {}): ReplicaReport {
  const { replica, start } = run
  return {
    replica,
    start,
    state: 'RUNNING',
    ready: false,
    probe: null,
    endReason: null,
    exitCode: null,
    exitSignal: null,
    message: null,
    ports: run.ports,
    takenPorts: [],
    ...over,
  }
}

function ended(
  run: Run,
  endReason: ReplicaReport['endReason'],
  exitCode: number | null,
  message: string | null,
): ReplicaReport {
  run.ended = report(run, { state: 'ENDED', endReason, exitCode, message })
  return run.ended
}
