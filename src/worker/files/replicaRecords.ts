import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { writeWhole } from '../../files/writeWhole.ts'
import type { Assignment, ReplicaName, Report } from '../assignment.ts'
import type { ReplicaFiles } from './replicaFiles.ts'

/** The state of a replica as far as the next worker needs to know it. */
export interface ReplicaState {
  /** The last start that was decided; it may not have happened yet. */
  readonly start: number
  readonly bootId: string
  readonly process: { readonly pid: number; readonly startTicks: number } | null
  readonly ready: boolean
  /** Whether the startup probe has succeeded in this start. */
  readonly started: boolean
  /** Whether the replica has been ready at some time during this start. */
  readonly wasReady: boolean
  /** What was told of the probes of this start. */
  readonly probe: Report['probe']
  /** How the start before this one ended; null where there was none or nobody knows. */
  readonly lastExit: Pick<Report, 'exitCode' | 'exitSignal' | 'message'> | null
  readonly stopping: boolean
  /** The instants of its restarts in place, on the machine's clock (bootSeconds). */
  readonly restarts: readonly number[]
  /** The report of its end, kept until the server removes the assignment. */
  readonly ended: Report | null
}

/**
 * The records on disk. They are written synchronously, so that nothing happens between a decision and its record. They
 * survive the worker, but need not survive a power failure: after a start of the machine no replica is left to be found.
 */
export class ReplicaRecords {
  readonly #files: ReplicaFiles

  constructor(files: ReplicaFiles) {
    this.#files = files
    mkdirSync(files.replicas, { recursive: true, mode: 0o700 })
    mkdirSync(files.exits, { recursive: true, mode: 0o700 })
  }

  /** Throws the system's error when the disk refuses. */
  create(assignment: Assignment): void {
    const directory = this.#files.directory(assignment.replica)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    // The replica may have been here before, when its port was taken and it was placed again.
    for (const name of readdirSync(directory)) {
      const start = /^claim-(\d+)$/.exec(name)?.[1]
      if (start !== undefined) this.clearStart(assignment.replica, Number(start))
    }
    this.#writeService(assignment)
    writeWhole(this.#files.assignment(assignment.replica), JSON.stringify(assignment))
  }

  /**
   * Writes the records of a replica again when its directory is gone, because a later worker would kill a replica without
   * records as a stray. False when the records are there. Throws the system's error when the disk refuses.
   */
  restore(assignment: Assignment, state: ReplicaState): boolean {
    mkdirSync(this.#files.exits, { recursive: true, mode: 0o700 })
    if (existsSync(this.#files.assignment(assignment.replica))) return false
    mkdirSync(this.#files.directory(assignment.replica), { recursive: true, mode: 0o700 })
    if (state.process !== null) writeWhole(this.#files.claim(assignment.replica, state.start), '')
    this.write(assignment.replica, state)
    this.#writeService(assignment)
    // The assignment comes last because it makes the records complete.
    writeWhole(this.#files.assignment(assignment.replica), JSON.stringify(assignment))
    return true
  }

  write(replica: ReplicaName, state: ReplicaState): void {
    writeWhole(this.#files.state(replica), JSON.stringify(state))
  }

  /** The records of all replicas. Records that can't be read count as never written. */
  readAll(): { assignment: Assignment; state: ReplicaState }[] {
    return readdirSync(this.#files.replicas).flatMap((replica) => {
      const assignment = readWhole(this.#files.assignment(replica))
      const state = readWhole(this.#files.state(replica))
      return assignment === null || state === null
        ? []
        : [{ assignment: assignment as Assignment, state: state as ReplicaState }]
    })
  }

  /** Removes the records of a replica of which nothing is left to report. Its logs stay for a while. */
  forget(replica: ReplicaName): void {
    rmSync(this.#files.state(replica), { force: true })
    rmSync(this.#files.assignment(replica), { force: true })
    rmSync(this.#files.arguments(replica), { force: true })
  }

  #writeService({ replica, project, service }: Assignment): void {
    writeFileSync(this.#files.service(replica), `${project}/${service}`, { mode: 0o600 })
  }

  /** Removes the claim and the exit file of a start. */
  clearStart(replica: ReplicaName, start: number): void {
    rmSync(this.#files.claim(replica, start), { force: true })
    rmSync(this.#files.exit(replica, start), { force: true })
  }
}

function readWhole(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown
  } catch {
    return null
  }
}
