import type { Logger } from 'pino'
import { isProbed } from '../../model/isProbed.ts'
import type { Assignment, ReplicaName } from '../assignment.ts'
import type { Exit } from '../files/exit.ts'
import { describeExit } from '../files/exit.ts'
import type { ExitFiles } from '../files/exitFiles.ts'
import type { LogKeeper } from '../files/logKeeper.ts'
import type { LogMarks } from '../files/logMarks.ts'
import type { OwnDirectories } from '../files/ownDirectories.ts'
import type { ReplicaFiles } from '../files/replicaFiles.ts'
import type { ReplicaRecords, ReplicaState } from '../files/replicaRecords.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import type { Cgroups } from '../machine/cgroup.ts'
import { findExecutable } from '../machine/executable.ts'
import { ticksPerSecond } from '../machine/processTable.ts'
import { type Belonging, markOf, type Sessions } from '../machine/sessions.ts'
import type { ProbeTarget } from '../probe/target.ts'
import { replicaEnvironment } from './environment.ts'
import { launch, refusalOf } from './launch.ts'
import type { ReplicaProcess } from './replicaProcess.ts'
import { ownProcess } from './replicaProcess.ts'

/** The parts that all replicas of a worker share. */
export interface StarterParts {
  readonly files: ReplicaFiles
  readonly records: ReplicaRecords
  readonly directories: OwnDirectories
  readonly marks: LogMarks
  readonly logs: LogKeeper
  readonly exits: ExitFiles
  readonly sessions: Sessions
  readonly cgroups: Cgroups | null
  readonly hostAddress: string | null
  readonly log: Logger
  /** Aborts when the worker ends and leaves its replicas running. */
  readonly life: AbortSignal
}

/** Turns assignments into processes. */
export class Starter {
  readonly records: ReplicaRecords
  readonly directories: OwnDirectories
  readonly sessions: Sessions
  readonly log: Logger
  readonly life: AbortSignal
  readonly #parts: StarterParts

  constructor(parts: StarterParts) {
    this.#parts = parts
    this.records = parts.records
    this.directories = parts.directories
    this.sessions = parts.sessions
    this.log = parts.log
    this.life = parts.life
  }

  /** A sentence that says why the command can't be started on this host; null when it can. */
  startFault(assignment: Assignment): string | null {
    const found = this.#executable(assignment)
    return found.kind === 'found' ? null : found.message
  }

  /** Resolves with the process, or with a sentence that says why it could not be started. */
  async start(assignment: Assignment, start: number): Promise<ReplicaProcess | string> {
    const found = this.#executable(assignment)
    if (found.kind === 'fault') return found.message
    try {
      this.#parts.marks.markStart(assignment.replica, start)
      this.#parts.logs.watchGrowth(assignment.replica)
      const child = await launch(this.#parts.files, {
        replica: assignment.replica,
        start,
        command: [found.file, ...assignment.command.slice(1)],
        environment: this.#environment(assignment),
        workingDirectory: this.directories.workingDirectory(assignment),
        cgroup: this.#parts.cgroups?.create(assignment) ?? null,
      })
      return ownProcess(child, assignment.replica, start, this.#parts.exits)
    } catch (error) {
      return `The process could not be started: ${error instanceof Error ? error.message : String(error)}.`
    }
  }

  /** How the processes of a start are known. */
  belonging(assignment: Assignment, { pid, startTicks }: ReplicaProcess): Belonging {
    return {
      session: pid,
      mark: markOf('XCE_REPLICA_DIRECTORY', this.directories.of(assignment.replica)),
      sinceTicks: startTicks,
    }
  }

  probeTarget(assignment: Assignment): ProbeTarget {
    return {
      sessions: this.sessions,
      address: this.#parts.hostAddress ?? '127.0.0.1',
      ports: assignment.ports,
      environment: this.#environment(assignment),
      workingDirectory: this.directories.workingDirectory(assignment),
    }
  }

  /** The sentence that says how a process ended. */
  explain(replica: ReplicaName, exit: Exit): string {
    const refusal = exit.code === 126 || exit.code === 127 ? refusalOf(this.#parts.files.log(replica, 'stderr')) : null
    if (refusal !== null) return `The kernel did not execute the command: ${refusal} (exit code ${exit.code}).`
    const why = this.#parts.cgroups?.outOfMemory(replica) === true ? ', because its memory was used up' : ''
    return `The process ${describeExit(exit)}${why}.`
  }

  /**
   * Nothing of a start runs any more. What it wrote last is dated now, and what it may have left in its cgroup is removed,
   * also processes that carry no sign of the replica.
   */
  cleanUp(replica: ReplicaName): void {
    this.#parts.marks.markNow(replica)
    this.#parts.cgroups?.remove(replica)
  }

  #executable(assignment: Assignment): ReturnType<typeof findExecutable> {
    const fault = this.directories.make(assignment)
    if (fault !== null) return { kind: 'fault', message: fault }
    const searchPath = this.#environment(assignment)['PATH'] ?? ''
    return findExecutable(assignment.command[0] ?? '', searchPath, this.directories.workingDirectory(assignment))
  }

  #environment(assignment: Assignment): Record<string, string> {
    const own = this.directories.of(assignment.replica)
    return replicaEnvironment(assignment, this.#parts.hostAddress, own, process.env)
  }
}

/** A process without probes that ends this early may have failed to bind its port. */
const youngSeconds = 5

/** True when a process ended before it was ready, so that its port may have been the reason. */
export function processIsYoung(assignment: Assignment, state: ReplicaState): boolean {
  if (isProbed(assignment)) return !state.wasReady
  return state.process === null || bootSeconds() - state.process.startTicks / ticksPerSecond < youngSeconds
}
