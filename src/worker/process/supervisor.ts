import { setMaxListeners } from 'node:events'
import { realpathSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Assignment, ReplicaName, Report } from '../assignment.ts'
import { isReplicaName, portsOf, samePlacement } from '../assignment.ts'
import { ExitFiles } from '../files/exitFiles.ts'
import { rotateLog } from '../files/logRotation.ts'
import type { LogTail } from '../files/logTail.ts'
import { tailReplica } from '../files/logTail.ts'
import { OwnDirectories } from '../files/ownDirectories.ts'
import { logStreams, ReplicaFiles } from '../files/replicaFiles.ts'
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
  /** What replicas get as XCE_HOST_ADDRESS and where they are probed. */
  readonly hostAddress: string | null
  /** Null: memory and CPU are not enforced. */
  readonly cgroups: Cgroups | null
  readonly log: Logger
  /** Every change of a replica's observed state, in order. */
  readonly onReport: (report: Report) => void
}

const rotationMillis = 2_000

/** All replicas of this worker. It knows nothing of servers: it takes assignments and tells what becomes of them. */
export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #life = new AbortController()
  readonly #files: ReplicaFiles
  readonly #records: ReplicaRecords
  readonly #directories: OwnDirectories
  readonly #exits: ExitFiles
  readonly #sessions = new Sessions()
  readonly #starter: Starter
  readonly #replicas = new Map<ReplicaName, Replica>()
  readonly #runs = new Map<ReplicaName, Promise<void>>()
  /** To be forgotten as soon as they have ended. */
  readonly #unwanted = new Set<ReplicaName>()
  /** To be assigned as soon as what has their id has ended. */
  readonly #next = new Map<ReplicaName, Assignment>()
  readonly #rotation: NodeJS.Timeout
  #rotating: Promise<void> | null = null
  #isEnding = false

  constructor(options: SupervisorOptions) {
    this.#options = options
    setMaxListeners(0, this.#life.signal)
    this.#files = new ReplicaFiles(realpathSync(options.stateDirectory))
    this.#records = new ReplicaRecords(this.#files)
    this.#exits = new ExitFiles(this.#files)
    const { log, hostAddress, cgroups } = options
    const life = this.#life.signal
    this.#directories = new OwnDirectories(this.#files, log, life)
    const [files, records, exits, sessions] = [this.#files, this.#records, this.#exits, this.#sessions]
    const directories = this.#directories
    this.#starter = new Starter({ files, records, directories, exits, sessions, cgroups, hostAddress, log, life })
    this.#rotation = setInterval(() => {
      // One at a time: a slow disk must not have them queue up.
      this.#rotating ??= this.#lookAfterFiles().finally(() => {
        this.#rotating = null
      })
    }, rotationMillis)
  }

  /** Takes over what earlier workers left. Call it once, before anything is assigned. Resolves with how many run. */
  async recover(): Promise<number> {
    void this.#directories.sweep()
    const [files, records, exits, sessions] = [this.#files, this.#records, this.#exits, this.#sessions]
    const found = await recover({ files, records, exits, sessions, life: this.#life.signal })
    for (const { assignment, recovered } of found) this.#add(assignment, recovered.state, recovered)
    return found.filter(({ recovered }) => recovered.process !== null).length
  }

  /** Makes the assignment's goal true. It may be told any number of times. What comes when the supervisor ends is nobody's any more. */
  assign(assignment: Assignment): void {
    if (this.#isEnding) return
    const { replica: id, goal } = assignment
    if (!isReplicaName(id)) {
      this.#options.log.error({ replica: id }, "assigned under what is no replica's id: passed over")
      return
    }
    let known = this.#replicas.get(id)
    if (known !== undefined && this.#isAnother(known, assignment)) {
      if (!known.ended) {
        this.#next.set(id, assignment)
        known.stop({ drain: false })
        return
      }
      this.#forget(id, known)
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
    this.#add(assignment, newState(), null)
  }

  /**
   * A server has taken these reports. One whose port was taken is placed anew with the same id, so that this end must not be told again, not
   * even when the id comes back here.
   */
  acknowledge(reports: readonly Report[]): void {
    for (const { replica: id, endReason, ports } of reports) {
      const replica = this.#replicas.get(id)
      if (replica === undefined || endReason !== 'PORT_TAKEN' || replica.report.endReason !== 'PORT_TAKEN') continue
      if (samePlacement(replica.report.ports, ports)) this.#forget(id, replica)
    }
  }

  /** The server has no assignment of it any more: whatever still runs is stopped, then forgotten. */
  release(id: ReplicaName, options: { drain: boolean }): void {
    const replica = this.#replicas.get(id)
    if (replica === undefined) return
    this.#unwanted.add(id)
    this.#next.delete(id)
    replica.stop(options)
    if (replica.ended) this.#forget(id, replica)
  }

  /** A whole list of assignments has come: what is not among them is released. */
  releaseAllBut(assigned: ReadonlySet<ReplicaName>): void {
    for (const id of [...this.#replicas.keys()]) if (!assigned.has(id)) this.release(id, { drain: true })
  }

  /** R15: no server was reached for so long that all of this is replaced elsewhere; a profile may want such replicas to stop by themselves. */
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

  /** The state of every replica that is not forgotten, ended ones too. */
  reports(): Report[] {
    return [...this.#replicas.values()].map((replica) => replica.report)
  }

  /** The services that have a replica here which has not ended, and whether one of theirs is ready. */
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

  /** The last lines of a replica's logs, also of one that ended a while ago. */
  async tail(id: ReplicaName, lines: number): Promise<LogTail> {
    return isReplicaName(id) ? tailReplica(this.#files, id, lines) : { stdout: [], stderr: [], truncated: false }
  }

  /** Lets go: processes run on and can be recovered. Resolves when nothing of this supervisor is left. */
  async close(): Promise<void> {
    this.#isEnding = true
    clearInterval(this.#rotation)
    this.#life.abort()
    this.#exits.close()
    await Promise.all([...this.#runs.values(), this.#rotating, this.#directories.sweep()])
  }

  #add(assignment: Assignment, state: ReplicaState, recovered: Recovered | null): void {
    const id = assignment.replica
    const replica = new Replica(assignment, state, this.#starter, (report) => this.#options.onReport(report))
    this.#replicas.set(id, replica)
    if (replica.ended) return
    if (recovered === null) this.#options.onReport(replica.report)
    const run = replica.run(recovered).then(() => {
      this.#runs.delete(id)
      const next = this.#next.get(id)
      if (!replica.ended || (next === undefined && !this.#unwanted.has(id))) return
      this.#forget(id, replica)
      if (next !== undefined) this.assign(next)
    })
    this.#runs.set(id, run)
  }

  /**
   * It was placed anew, and here again, because its port was taken or a restored database has placed it once more; or it was released, and is not
   * to be after all.
   */
  #isAnother({ assignment: { replica }, report }: Replica, next: Assignment): boolean {
    return this.#next.has(replica) || this.#unwanted.has(replica) || !samePlacement(report.ports, portsOf(next))
  }

  #forget(id: ReplicaName, replica: Replica): void {
    this.#replicas.delete(id)
    this.#unwanted.delete(id)
    this.#next.delete(id)
    const { start } = replica.report
    try {
      this.#records.forget(id)
      this.#records.clearStart(id, start)
      this.#records.clearStart(id, start - 1)
      const isAlive = (candidate: ReplicaName) => this.#replicas.has(candidate)
      this.#records.prune(isAlive)
      this.#directories.discard(isAlive)
    } catch (error) {
      this.#options.log.warn({ err: error, replica: id }, 'files of a replica that has ended could not be removed')
    }
  }

  async #lookAfterFiles(): Promise<void> {
    for (const [id, replica] of [...this.#replicas]) {
      replica.keepFiles()
      for (const stream of logStreams) {
        await rotateLog(this.#files.log(id, stream), this.#files.rotatedLog(id, stream)).catch((error: unknown) => {
          if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return // not started yet
          this.#options.log.warn({ err: error, replica: id }, 'a log could not be rotated')
        })
      }
    }
  }
}

function newState(): ReplicaState {
  return {
    start: 1,
    bootId: bootId(),
    process: null,
    ready: false,
    wasReady: false,
    stopping: false,
    restarts: [],
    ended: null,
  }
}

/** Stopped before its process started, or forgotten because the server had confirmed its end. */
function neverStarted(assignment: Assignment): Report {
  const nothing = { ready: false, exitCode: null, exitSignal: null, message: null }
  return {
    replica: assignment.replica,
    start: 1,
    state: 'ENDED',
    endReason: 'STOPPED',
    ports: portsOf(assignment),
    ...nothing,
  }
}
