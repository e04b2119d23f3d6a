import { setMaxListeners } from 'node:events'
import { realpathSync } from 'node:fs'
import type { Logger } from 'pino'
import type { LogAnswer, LogQuestion } from '../../model/replicaLog.ts'
import type { Assignment, ReplicaName, Report } from '../assignment.ts'
import { isReplicaName, portsOf, samePlacement } from '../assignment.ts'
import { EndedLogs } from '../files/endedLogs.ts'
import { ExitFiles } from '../files/exitFiles.ts'
import { FileWatch } from '../files/fileWatch.ts'
import { LogKeeper } from '../files/logKeeper.ts'
import { LogMarks } from '../files/logMarks.ts'
import { LogReading } from '../files/logReading.ts'
import { OwnDirectories } from '../files/ownDirectories.ts'
import { ReplicaFiles } from '../files/replicaFiles.ts'
import type { ReplicaState } from '../files/replicaRecords.ts'
import { ReplicaRecords } from '../files/replicaRecords.ts'
import { bootId } from '../machine/bootClock.ts'
import type { Cgroups } from '../machine/cgroup.ts'
import { Sessions } from '../machine/sessions.ts'
import { recover } from './recovery.ts'
import type { Recovered } from './replica.ts'
import { Replica } from './replica.ts'
import { Starter } from './starter.ts'

export interface SupervisorOptions {
  /** An existing directory on a local disk, locked by the caller. */
  readonly stateDirectory: string
  /** The address that replicas get as XCE_HOST_ADDRESS, and at which they are probed. */
  readonly hostAddress: string | null
  /** Null when memory and CPU are not enforced. */
  readonly cgroups: Cgroups | null
  readonly log: Logger
  /** Gets every change of a replica's observed state, in order. */
  readonly onReport: (report: Report) => void
}

/** All replicas of this worker. It knows nothing of servers: it gets assignments and reports the state of replicas. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #life = new AbortController()
  readonly #files: ReplicaFiles
  readonly #records: ReplicaRecords
  readonly #directories: OwnDirectories
  readonly #exits: ExitFiles
  readonly #marks: LogMarks
  readonly #logs: LogKeeper
  readonly #ended: EndedLogs
  readonly #sessions = new Sessions()
  readonly #starter: Starter
  readonly #replicas = new Map<ReplicaName, Replica>()
  readonly #runs = new Map<ReplicaName, Promise<void>>()
  /** The released replicas, which are forgotten as soon as they have ended. */
  readonly #released = new Set<ReplicaName>()
  /** Assignments that wait until an earlier replica with the same id has ended. */
  readonly #waiting = new Map<ReplicaName, Assignment>()
  readonly #fileWatch: FileWatch
  readonly #reading: LogReading
  #isEnding = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    setMaxListeners(0, this.#life.signal)
    this.#files = new ReplicaFiles(realpathSync(options.stateDirectory))
    this.#records = new ReplicaRecords(this.#files)
    this.#exits = new ExitFiles(this.#files)
    const { log, hostAddress, cgroups } = options
    this.#marks = new LogMarks(this.#files)
    this.#logs = new LogKeeper(this.#files, this.#marks, log)
    this.#ended = new EndedLogs({
      files: this.#files,
      marks: this.#marks,
      log,
      isAlive: (replica) => this.#replicas.has(replica),
      onPruned: (isAlive) => this.#directories.discard(isAlive),
    })
    this.#reading = new LogReading(this.#files, this.#marks, (replica) => this.#replicas.get(replica)?.ended === false)
    const life = this.#life.signal
    this.#directories = new OwnDirectories(this.#files, log, life)
    const [files, records, exits, sessions] = [this.#files, this.#records, this.#exits, this.#sessions]
    const [directories, marks, logs] = [this.#directories, this.#marks, this.#logs]
    this.#starter = new Starter({
      files,
      records,
      directories,
      marks,
      logs,
      exits,
      sessions,
      cgroups,
      hostAddress,
      log,
      life,
    })
    this.#fileWatch = new FileWatch({
      files,
      log,
      look: (id) => this.#maintainFiles(id),
      onChange: (id) => logs.watchGrowth(id),
    })
  }

  /**
   * Takes over what earlier workers left. The caller does this once, before it assigns anything. Resolves with the number
   * of running replicas.
   */
  async recover(): Promise<number> {
    void this.#directories.sweep()
    const [files, records, exits, sessions] = [this.#files, this.#records, this.#exits, this.#sessions]
    const found = await recover({ files, records, exits, sessions, life: this.#life.signal })
    for (const { assignment, recovered } of found) this.#addReplica(assignment, recovered.state, recovered)
    return found.filter(({ recovered }) => recovered.process !== null).length
  }

  /** Makes the assignment's goal true. It may be repeated. After `close` began, nothing would supervise a new replica. */
  assign(assignment: Assignment): void {
    if (this.#isEnding) return
    const { replica: id, goal } = assignment
    if (!isReplicaName(id)) {
      this.#options.log.error({ replica: id }, 'an assignment with an invalid replica id is ignored')
      return
    }
    let known = this.#replicas.get(id)
    if (known !== undefined && this.#isNewPlacement(known, assignment)) {
      if (!known.ended) {
        this.#waiting.set(id, assignment)
        known.stop({ drain: false })
        return
      }
      this.#forgetReplica(id, known)
      known = undefined
    }
    if (known !== undefined) {
      if (known.ended) this.#options.onReport(known.report)
      else if (goal === 'STOP') known.stop({ drain: true })
      return
    }
    if (goal === 'STOP') {
      this.#options.onReport(neverStarted(assignment))
      return
    }
    try {
      this.#records.create(assignment)
    } catch (error) {
      const message = `The state directory takes no new replica: ${(error as Error).message}.`
      this.#options.log.error({ replica: id }, message)
      this.#options.onReport({ ...neverStarted(assignment), endReason: 'START_FAILED', message })
      return
    }
    this.#addReplica(assignment, newState(), null)
  }

  /**
   * A server has accepted these reports. A replica whose port was taken is placed again with the same id, so its end must
   * not be reported again, not even when the id comes back here.
   */
  acknowledge(reports: readonly Report[]): void {
    for (const { replica: id, endReason, ports } of reports) {
      const replica = this.#replicas.get(id)
      if (replica === undefined || endReason !== 'PORT_TAKEN' || replica.report.endReason !== 'PORT_TAKEN') continue
      if (samePlacement(replica.report.ports, ports)) this.#forgetReplica(id, replica)
    }
  }

  /** Stops a replica that is no longer assigned to this worker, then forgets it. */
  release(id: ReplicaName, options: { drain: boolean }): void {
    const replica = this.#replicas.get(id)
    if (replica === undefined) return
    this.#released.add(id)
    this.#waiting.delete(id)
    replica.stop(options)
    if (replica.ended) this.#forgetReplica(id, replica)
  }

  /** Releases every replica that is missing in a complete list of assignments. */
  releaseAllBut(assigned: ReadonlySet<ReplicaName>): void {
    for (const id of [...this.#replicas.keys()]) if (!assigned.has(id)) this.release(id, { drain: true })
  }

  /** R15: after so long without a server all replicas are replaced elsewhere; those whose profile says so stop. */
  stopWithoutContact(): void {
    for (const replica of this.#replicas.values()) {
      if (replica.assignment.stop.onLostContact === 'STOP') replica.stop({ drain: false })
    }
  }

  /** Stops and forgets every replica; resolves when the last has ended. */
  async releaseAll(options: { drain: boolean }): Promise<void> {
    for (const id of [...this.#replicas.keys()]) this.release(id, options)
    await Promise.all(this.#runs.values())
  }

  /** The reports of all replicas that are not forgotten, also of ended ones. */
  reports(): Report[] {
    return [...this.#replicas.values()].map((replica) => replica.report)
  }

  /** The services with a replica here that has not ended, and whether one of these replicas is ready. */
  services(): { project: string; name: string; ready: boolean }[] {
    const services = new Map<string, { project: string; name: string; ready: boolean }>()
    for (const { assignment, report } of this.#replicas.values()) {
      if (report.state === 'ENDED') continue
      const { project, service: name } = assignment
      const key = `${project}/${name}`
      services.set(key, { project, name, ready: report.ready || services.get(key)?.ready === true })
    }
    return [...services.values()]
  }

  /**
   * Answers a question about a replica's log, also after its end until the log is removed. `signal` ends the waiting for
   * what is to come.
   */
  readLog(id: ReplicaName, question: LogQuestion, signal: AbortSignal): Promise<LogAnswer> {
    return this.#reading.answer(id, question, AbortSignal.any([signal, this.#life.signal]))
  }

  /** Ends the supervision; the processes run on and can be recovered. Resolves when nothing of this supervisor is left. */
  async close(): Promise<void> {
    this.#isEnding = true
    this.#life.abort()
    this.#exits.close()
    await Promise.all([
      ...this.#runs.values(),
      this.#fileWatch.close(),
      this.#ended.close(),
      this.#logs.close(),
      this.#directories.sweep(),
    ])
  }

  #addReplica(assignment: Assignment, state: ReplicaState, recovered: Recovered | null): void {
    const id = assignment.replica
    const replica = new Replica(assignment, state, this.#starter, (report) => this.#options.onReport(report))
    this.#replicas.set(id, replica)
    this.#fileWatch.add(id)
    if (replica.ended) return
    if (recovered === null) this.#options.onReport(replica.report)
    const run = replica.run(recovered).then(() => {
      this.#runs.delete(id)
      const next = this.#waiting.get(id)
      if (!replica.ended || (next === undefined && !this.#released.has(id))) return
      this.#forgetReplica(id, replica)
      if (next !== undefined) this.assign(next)
    })
    this.#runs.set(id, run)
  }

  /**
   * True when the assignment is another placement of a known replica: its port was taken and it was placed here again, or a
   * restored database has placed it once more. The same goes for a replica that was released and is assigned again.
   */
  #isNewPlacement({ assignment: { replica }, report }: Replica, next: Assignment): boolean {
    return this.#waiting.has(replica) || this.#released.has(replica) || !samePlacement(report.ports, portsOf(next))
  }

  #forgetReplica(id: ReplicaName, replica: Replica): void {
    this.#replicas.delete(id)
    this.#fileWatch.remove(id)
    this.#released.delete(id)
    this.#waiting.delete(id)
    const { start } = replica.report
    try {
      this.#records.forget(id)
      this.#records.clearStart(id, start)
      this.#records.clearStart(id, start - 1)
      this.#logs.forget(id)
      this.#ended.pruneSoon()
    } catch (error) {
      this.#options.log.warn({ err: error, replica: id }, 'files of a replica that has ended could not be removed')
    }
  }

  /** Resolves with whether the replica's files are in order, so that nothing has to be done until they change. */
  async #maintainFiles(id: ReplicaName): Promise<boolean> {
    const isInOrder = this.#replicas.get(id)?.keepFiles() ?? true
    return (await this.#logs.look(id)) && isInOrder
  }
}

function newState(): ReplicaState {
  return {
    start: 1,
    bootId: bootId(),
    process: null,
    ready: false,
    started: false,
    wasReady: false,
    probe: null,
    lastExit: null,
    stopping: false,
    restarts: [],
    ended: null,
  }
}

/** The report of a replica that was stopped before its process started, or that is forgotten because its end was confirmed. */
function neverStarted(assignment: Assignment): Report {
  const nothing = { ready: false, probe: null, exitCode: null, exitSignal: null, message: null, takenPorts: [] }
  return {
    replica: assignment.replica,
    start: 1,
    state: 'ENDED',
    endReason: 'STOPPED',
    ports: portsOf(assignment),
    ...nothing,
  }
}
