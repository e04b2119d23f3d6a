import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isProbed } from '../../model/isProbed.ts'
import { decideRestart } from '../../model/restart.ts'
import { orAbort, within } from '../abort.ts'
import type { Assignment, Report } from '../assignment.ts'
import { portsOf, sameReport } from '../assignment.ts'
import type { Exit } from '../files/exit.ts'
import { describeExit } from '../files/exit.ts'
import type { ReplicaState } from '../files/replicaRecords.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import type { ProcessStat } from '../machine/processTable.ts'
import { watchHealth } from './health.ts'
import { type TakenPorts, takenPorts } from './portCheck.ts'
import type { ReplicaProcess } from './replicaProcess.ts'
import { terminate } from './replicaProcess.ts'
import type { Starter } from './starter.ts'
import { processIsYoung } from './starter.ts'

/** The state in which a worker found an earlier worker's replica. `process` and `exit` are null when the start never happened. */
export interface Recovered {
  readonly state: ReplicaState
  readonly process: ReplicaProcess | null
  readonly exit: Exit | null
}

type End = Pick<Report, 'endReason' | 'exitCode' | 'exitSignal' | 'message' | 'takenPorts'>

/**
 * One replica on this worker, from its assignment to its end:
 *
 *     [ check → start → supervise → ended ]  repeated by the restart policy  → end
 *
 * `run` goes through these steps in order. `stop` may be called at any time and takes effect at every step. When the
 * worker itself ends (`life`), `run` stops where it is and the process runs on.
 */
export class Replica {
  readonly assignment: Assignment
  readonly #starter: Starter
  readonly #log: Logger
  readonly #life: AbortSignal
  readonly #onReport: (report: Report) => void
  readonly #stop = new AbortController()
  /** Whether a stop waits for drainSeconds before the signal. */
  #drainsBeforeStop = true
  /** Why this worker ended the process, when the reason was not a stop. */
  #killReason: string | null = null
  /** What a process that ended on its own left running. */
  #leftBehind: readonly ProcessStat[] = []
  /** Keeps the log from repeating that the lost files can't be written. */
  #isLossLogged = false
  #state: ReplicaState
  #report: Report

  constructor(assignment: Assignment, state: ReplicaState, starter: Starter, onReport: (report: Report) => void) {
    this.assignment = assignment
    this.#starter = starter
    this.#life = starter.life
    this.#log = starter.log.child({
      replica: assignment.replica,
      service: `${assignment.project}/${assignment.service}`,
    })
    this.#onReport = onReport
    this.#state = state
    const lastExit = state.lastExit ?? { exitCode: null, exitSignal: null, message: null }
    const running = { endReason: null, probe: state.probe, takenPorts: [], ...lastExit }
    const { replica } = assignment
    const begun = state.ended ?? { replica, start: state.start, state: 'STARTING', ready: false, ...running }
    this.#report = { ...begun, ports: portsOf(assignment) }
  }

  /** The last report. */
  get report(): Report {
    return this.#report
  }

  get ended(): boolean {
    return this.#report.state === 'ENDED'
  }

  /**
   * Ends the replica for good. `drain` is false when its address has left the endpoint long ago, so that the signal is sent
   * at once. A repeated call changes nothing.
   */
  stop(options: { drain: boolean }): void {
    if (this.#stop.signal.aborted || this.ended) return
    this.#drainsBeforeStop = options.drain
    this.#log.info({ start: this.#state.start }, 'stopping')
    this.#saveState({ stopping: true })
    this.#stop.abort()
  }

  /**
   * Writes the replica's files again when somebody has removed them, and logs that; the replica goes on. Returns whether
   * all of them are there.
   */
  keepFiles(): boolean {
    try {
      // Its probes run in its own directory. The next start reports when that can't be made.
      const fault = this.ended ? null : this.#starter.directories.make(this.assignment)
      const made = this.#starter.records.restore(this.assignment, this.#state)
      this.#isLossLogged = false
      if (made)
        this.#log.error(
          'the directory of a replica was gone and is made again; the replica goes on, and what it prints is kept from its next start on',
        )
      return fault === null
    } catch (error) {
      if (this.#isLossLogged) return false
      this.#isLossLogged = true
      this.#log.error(
        { err: error },
        'the directory of a replica is gone and could not be made again; the replica goes on',
      )
      return false
    }
  }

  /** Resolves when the replica has ended, or when the worker leaves it running. Never rejects. */
  async run(recovered: Recovered | null): Promise<void> {
    try {
      if (recovered?.state.stopping === true) this.#stop.abort()
      this.#finish(await this.#runToEnd(recovered))
    } catch (error) {
      if (this.#life.aborted) return
      this.#log.error({ err: error }, 'a replica could not be looked after')
      this.#finish(
        ending('START_FAILED', null, `The worker failed: ${error instanceof Error ? error.message : String(error)}`),
      )
    }
  }

  async #runToEnd(recovered: Recovered | null): Promise<End> {
    let running = recovered?.process ?? null
    let exit = recovered?.exit ?? null
    if (recovered === null) {
      const fault = this.#starter.startFault(this.assignment)
      if (fault !== null) return ending('START_FAILED', null, fault)
    }
    for (;;) {
      if (exit === null) {
        if (running === null) {
          // R13: a program that finds its port taken would only fail, or seem ready by the answers of the other one.
          const taken = await takenPorts(this.assignment.ports)
          if (this.#stop.signal.aborted) return ending('STOPPED', null, null)
          if (taken !== null) return portTaken(null, taken)
          const started = await this.#startProcess()
          if (typeof started === 'string') return ending('START_FAILED', null, started)
          running = started
        }
        exit = await this.#superviseProcess(running)
      }
      const end = await this.#decideAfterExit(exit)
      if (end !== null) return end
      running = exit = null
    }
  }

  async #startProcess(): Promise<ReplicaProcess | string> {
    this.keepFiles()
    try {
      // The record comes before the process, so that the next worker knows of this start and can tell whether it happened.
      this.#starter.records.write(this.assignment.replica, this.#state)
    } catch (error) {
      return `The start could not be written to the state directory: ${error instanceof Error ? error.message : String(error)}.`
    }
    const running = await this.#starter.start(this.assignment, this.#state.start)
    if (typeof running !== 'string') this.#saveState({ process: { pid: running.pid, startTicks: running.startTicks } })
    return running
  }

  /** Probes a running process until it ends or has to be ended. On return nothing of it is left. */
  async #superviseProcess(running: ReplicaProcess): Promise<Exit> {
    const { assignment } = this
    const ready = !isProbed(assignment) || this.#state.ready
    this.#log.info({ start: this.#state.start, pid: running.pid }, 'running')
    this.#publish({ state: 'RUNNING', ready })
    const health = watchHealth({
      assignment,
      running,
      starter: this.#starter,
      ready,
      started: this.#state.started || this.#state.wasReady,
      onStarted: () => this.#saveState({ started: true }),
      told: this.#state.probe,
      onReady: (now, probe) => this.#publish({ ready: now, probe }),
      onNews: (probe) => this.#publish({ probe }),
    })
    const { stop: policy } = assignment
    const { sessions } = this.#starter
    const belonging = this.#starter.belonging(assignment, running)
    try {
      const cause = await firstOf(running.exited, health.dead, this.#stop.signal, this.#life)
      if (cause === 'stop' && this.#drainsBeforeStop && this.#report.ready)
        await within(running.exited, policy.drainSeconds * 1_000, this.#life)
      health.close()
      if (cause === 'dead') {
        this.#killReason = health.message
        this.#publish({ ready: false, probe: health.failed })
      }
      if (cause !== 'exited') return await terminate(running, belonging, policy, sessions, this.#life)
      this.#leftBehind = await sessions.clear(belonging, { patienceMillis: 0, spared: null, signal: this.#life })
      return await orAbort(running.exited, this.#life)
    } finally {
      health.close()
    }
  }

  /** Decides what follows the end of a process. Resolves with null once the process is to be started again. */
  async #decideAfterExit(exit: Exit): Promise<End | null> {
    const { assignment } = this
    const young = processIsYoung(assignment, this.#state)
    const fault = this.#killReason ?? backgroundFault(exit, this.#leftBehind)
    const message = fault ?? this.#starter.explain(assignment.replica, exit)
    this.#killReason = null
    this.#leftBehind = []
    this.#starter.cleanUp(assignment.replica)
    this.#log.info({ start: this.#state.start, exitCode: exit.code, exitSignal: exit.signal }, describeExit(exit))
    if (this.#stop.signal.aborted) return ending('STOPPED', exit, null)
    const taken = young ? await takenPorts(assignment.ports) : null
    if (taken !== null) return portTaken(exit, taken)
    const { restarts, start } = this.#state
    const now = bootSeconds()
    // A program may end with 0 when a failed probe had it stopped, so the code alone does not say that it is done.
    const outcome = fault === null && exit.code === 0 ? 'completed' : 'failed'
    const decision = decideRestart(assignment.restart, outcome, restarts, now)
    if (decision.kind === 'end') return ending(decision.endReason, exit, message)
    this.#starter.records.clearStart(assignment.replica, start - 1)
    const lastExit = { exitCode: exit.code, exitSignal: exit.signal, message }
    this.#state = {
      ...this.#state,
      start: start + 1,
      probe: null,
      lastExit,
      process: null,
      ready: false,
      started: false,
      wasReady: false,
      restarts: [...restarts.slice(-1_000), now],
    }
    this.#publish({ start: start + 1, state: 'STARTING', ready: false, probe: null, ...lastExit })
    if (decision.afterSeconds > 0) await pause(decision.afterSeconds * 1_000, this.#stop.signal, this.#life)
    return this.#stop.signal.aborted ? ending('STOPPED', exit, null) : null
  }

  #finish(end: End): void {
    this.#starter.cleanUp(this.assignment.replica)
    // Nobody asked for any other end, and no other one is expected.
    if (end.endReason === 'STOPPED' || end.endReason === 'COMPLETED') this.#log.info(end, 'ended')
    else this.#log.warn(end, 'ended')
    this.#publish({ ...end, state: 'ENDED', ready: false })
    this.#saveState({ ended: this.#report, ready: false, process: null })
  }

  #publish(change: Partial<Report>): void {
    const next = { ...this.#report, start: this.#state.start, ...change }
    if (sameReport(this.#report, next)) return
    this.#report = next
    const { ready, probe } = next
    if (ready !== this.#state.ready || probe !== this.#state.probe)
      this.#saveState({ ready, probe, wasReady: ready || this.#state.wasReady })
    this.#onReport(next)
  }

  /** A failure to write the record does not stop the replica; only the next worker would know less. */
  #saveState(change: Partial<ReplicaState>): void {
    this.#state = { ...this.#state, ...change }
    try {
      this.#starter.records.write(this.assignment.replica, this.#state)
    } catch (error) {
      this.#log.error({ err: error }, 'the record of a replica could not be written; it goes on')
    }
  }
}

function ending(endReason: End['endReason'], exit: Exit | null, message: string | null): End {
  return { endReason, exitCode: exit?.code ?? null, exitSignal: exit?.signal ?? null, message, takenPorts: [] }
}

function portTaken(exit: Exit | null, { names, message }: TakenPorts): End {
  return { ...ending('PORT_TAKEN', exit, message), takenPorts: names }
}

/**
 * What to do when a program went to the background, as daemons do: its first process ends with 0, and the worker ends the
 * rest, because nobody would know when that has failed. Null when nothing was left, or when the program failed.
 */
function backgroundFault(exit: Exit, left: readonly ProcessStat[]): string | null {
  if (exit.code !== 0 || left.length === 0) return null
  const names = [...new Set(left.map(({ name }) => name))]
  const named = names.slice(0, 5).join(', ') + (names.length > 5 ? ' …' : '')
  const what = left.length === 1 ? 'a process' : `${left.length} processes`
  return `The process exited with code 0 and left ${what} in the background (${named}), which the worker ended. Run the program in the foreground: without "&", and without an option such as --daemon.`
}

/** Resolves with what happens first. Rejects when the worker ends. */
async function firstOf(
  exited: Promise<unknown>,
  dead: Promise<void>,
  stop: AbortSignal,
  life: AbortSignal,
): Promise<'exited' | 'dead' | 'stop'> {
  let unhook = (): void => undefined
  try {
    return await new Promise((resolve, reject) => {
      const onStop = (): void => resolve('stop')
      const onEnd = (): void => reject(life.reason)
      unhook = () => {
        stop.removeEventListener('abort', onStop)
        life.removeEventListener('abort', onEnd)
      }
      stop.addEventListener('abort', onStop)
      life.addEventListener('abort', onEnd)
      if (life.aborted) onEnd()
      if (stop.aborted) onStop()
      exited.then(() => resolve('exited'), reject)
      dead.then(() => resolve('dead'), reject)
    })
  } finally {
    unhook()
  }
}

/** Waits until the time is over or a stop comes. Rejects when the worker ends. */
async function pause(millis: number, stop: AbortSignal, life: AbortSignal): Promise<void> {
  const either = AbortSignal.any([stop, life])
  await wait(millis, undefined, { signal: either }).catch(() => undefined)
  life.throwIfAborted()
}
