import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { writeWhole } from '../../files/writeWhole.ts'
import type { Assignment, ReplicaName, Report } from '../assignment.ts'
import type { ReplicaFiles } from './replicaFiles.ts'

/** What a worker that starts must know of a replica that an earlier one ran. */
export interface ReplicaState {
  /** The last start that was decided on; it may not have happened yet. */
  readonly start: number
  readonly bootId: string
  readonly process: { readonly pid: number; readonly startTicks: number } | null
  readonly ready: boolean
  /** It has been ready at some time of this start. */
  readonly wasReady: boolean
  readonly stopping: boolean
  /** On the machine's clock (bootSeconds): when it was restarted in place. */
  readonly restarts: readonly number[]
  /** The end, until the server has no assignment of it any more. */
  readonly ended: Report | null
}

/** Logs of this many replicas that have ended are kept. */
export const keptEndedReplicas = 100

/**
 * The records on disk. Written whole to another name and renamed, and without awaiting: between a decision and its record nothing else
 * happens. They outlive the worker, not the machine's power: after a start of the machine no replica is left to be found.
 */
export class ReplicaRecords {
  readonly #files: ReplicaFiles

  constructor(files: ReplicaFiles) {
    this.#files = files
    mkdirSync(files.replicas, { recursive: true, mode: 0o700 })
    mkdirSync(files.exits, { recursive: true, mode: 0o700 })
  }

  /** Throws where the disk refuses. */
  create(assignment: Assignment): void {
    const directory = this.#files.directory(assignment.replica)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    // The same replica may have been here before, when its port was taken and it was placed anew.
    for (const name of readdirSync(directory)) {
      const start = /^claim-(\d+)$/.exec(name)?.[1]
      if (start !== undefined) this.clearStart(assignment.replica, Number(start))
    }
    writeWhole(this.#files.assignment(assignment.replica), JSON.stringify(assignment))
  }

  /**
   * Writes the records of a replica anew where its directory is gone; false: it is there. A worker that starts later would take a replica without
   * records for nobody's, and kill it. Throws where the disk refuses.
   */
  restore(assignment: Assignment, state: ReplicaState): boolean {
    mkdirSync(this.#files.exits, { recursive: true, mode: 0o700 })
    if (existsSync(this.#files.assignment(assignment.replica))) return false
    mkdirSync(this.#files.directory(assignment.replica), { recursive: true, mode: 0o700 })
    if (state.process !== null) writeWhole(this.#files.claim(assignment.replica, state.start), '')
    this.write(assignment.replica, state)
    // Last: with it the records are whole.
    writeWhole(this.#files.assignment(assignment.replica), JSON.stringify(assignment))
    return true
  }

  write(replica: ReplicaName, state: ReplicaState): void {
    writeWhole(this.#files.state(replica), JSON.stringify(state))
  }

  /** All that a worker has not forgotten. What cannot be read is taken as never written. */
  readAll(): { assignment: Assignment; state: ReplicaState }[] {
    return readdirSync(this.#files.replicas).flatMap((replica) => {
      const assignment = readWhole(this.#files.assignment(replica))
      const state = readWhole(this.#files.state(replica))
      return assignment === null || state === null
        ? []
        : [{ assignment: assignment as Assignment, state: state as ReplicaState }]
    })
  }

  /** Nothing is left to say of this replica. Its logs stay for a while. */
  forget(replica: ReplicaName): void {
    rmSync(this.#files.state(replica), { force: true })
    rmSync(this.#files.assignment(replica), { force: true })
    rmSync(this.#files.arguments(replica), { force: true })
  }

  /** Removes what claims and exits of earlier starts left. */
  clearStart(replica: ReplicaName, start: number): void {
    rmSync(this.#files.claim(replica, start), { force: true })
    rmSync(this.#files.exit(replica, start), { force: true })
  }

  /** Removes the oldest directories of ended replicas beyond `keptEndedReplicas`. */
  prune(alive: (replica: ReplicaName) => boolean): void {
    const ended = readdirSync(this.#files.replicas)
      .filter((replica) => !alive(replica))
      .map((replica) => ({
        replica,
        at: statSync(path.join(this.#files.replicas, replica), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      }))
      .sort((a, b) => b.at - a.at || (a.replica < b.replica ? -1 : 1))
    for (const { replica } of ended.slice(keptEndedReplicas))
      rmSync(this.#files.directory(replica), { recursive: true, force: true })
  }
}

function readWhole(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown
  } catch {
    return null
  }
}
