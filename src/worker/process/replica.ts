import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { decideRestart } from '../../model/restart.ts'
import { orAbort, within } from '../abort.ts'
import type { Assignment, Report } from '../assignment.ts'
import { portsOf, sameReport } from '../assignment.ts'
import type { Exit } from '../files/exit.ts'
import { describeExit } from '../files/exit.ts'
import type { ReplicaState } from '../files/replicaRecords.ts'
import { bootSeconds } from '../machine/bootClock.ts'
import { watchHealth } from './health.ts'
import { portFault } from './portCheck.ts'
import type { ReplicaProcess } from './replicaProcess.ts'
import { terminate } from './replicaProcess.ts'
import type { Starter } from './starter.ts'
import { processIsYoung } from './starter.ts'

/** What a worker found of a replica that an earlier one ran. Both null: the start that was decided on never happened. */
export interface Recovered {
  readonly state: ReplicaState
  readonly process: ReplicaProcess | null
  readonly exit: Exit | null
}

type End = Pick<Report, 'endReason' | 'exitCode' | 'exitSignal' | 'message'>

/**
 * One replica on this worker, from its assignment to its end:
 *
 *     check → [ start → attend → ended ]  repeated by the restart policy  → end
 *
 * `run` is the whole story, in order. It is told one thing from outside, `stop`, which counts at every point of it; the worker's own exit
 * (`life`) leaves the story where it is, and the process running.
 */
export class Replica {
  readonly assignment: Assignment
  readonly #starter: Starter
  readonly #log: Logger
  readonly #life: AbortSignal
  readonly #onReport: (report: Report) => void
  readonly #stop = new AbortController()
  #drain = true
  /** Why this worker ended the process itself, where it was not a stop. */
  #because: string | null = null
  /** They could not be made anew: said once. */
  #filesGone = false
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
    const running = { endReason: null, exitCode: null, exitSignal: null, message: null }
    const { replica } = assignment
    const begun = state.ended ?? { replica, start: state.start, state: 'STARTING', ready: false, ...running }
    this.#report = { ...begun, ports: portsOf(assignment) }
  }

  /** As it was reported last. */
  get report(): Report {
    return this.#report
  }

  get ended(): boolean {
    return this.#report.state === 'ENDED'
  }

  /** Ends it for good. `drain` false: its address has left the endpoint long ago, so the signal is sent at once. Asked again, nothing changes. */
  stop(options: { drain: boolean }): void {
    if (this.#stop.signal.aborted || this.ended) return
    this.#drain = options.drain
    this.#log.info({ start: this.#state.start }, 'stopping')
    this.#save({ stopping: true })
    this.#stop.abort()
  }

  /** Its files are there, or written anew and told: somebody has removed them, and the replica goes on. */
  keepFiles(): void {
    try {
      // Its probes run in its own directory. What is in the place of that is told by the next start.
      if (!this.ended) this.#starter.directories.make(this.assignment)
      const made = this.#starter.records.restore(this.assignment, this.#state)
      this.#filesGone = false
      if (!made) return
      this.#log.error(
        'the directory of a replica was gone and is made anew; the replica goes on, and what it prints is kept from its next start on',
      )
    } catch (error) {
      if (this.#filesGone) return
      this.#filesGone = true
      this.#log.error(
        { err: error },
        'the directory of a replica is gone and could not be made anew; the replica goes on',
      )
    }
  }

  /** Settles when it has ended, or when the worker leaves it running. Never rejects. */
  async run(recovered: Recovered | null): Promise<void> {
    try {
      if (recovered?.state.stopping === true) this.#stop.abort()
      this.#end(await this.#live(recovered))
    } catch (error) {
      if (this.#life.aborted) return
      this.#log.error({ err: error }, 'a replica could not be looked after')
      this.#end(
        ending('START_FAILED', null, `The worker failed: ${error instanceof Error ? error.message : String(error)}`),
      )
    }
  }

  async #live(recovered: Recovered | null): Promise<End> {
    let running = recovered?.process ?? null
    let exit = recovered?.exit ?? null
    if (recovered === null) {
      const fault = this.#starter.fault(this.assignment)
      if (fault !== null) return ending('START_FAILED', null, fault)
      const taken = await portFault(this.assignment.ports)
      if (taken !== null && !this.#stop.signal.aborted) return ending('PORT_TAKEN', null, taken)
    }
    for (;;) {
      if (exit === null) {
        if (running === null) {
          if (this.#stop.signal.aborted) return ending('STOPPED', null, null)
          const started = await this.#start()
          if (typeof started === 'string') return ending('START_FAILED', null, started)
          running = started
        }
        exit = await this.#attend(running)
      }
      const end = await this.#afterExit(exit)
      if (end !== null) return end
      running = exit = null
    }
  }

  async #start(): Promise<ReplicaProcess | string> {
    this.keepFiles()
    try {
      // Before the process: a worker that dies in between finds that this start was meant to be, and whether it was.
      this.#starter.records.write(this.assignment.replica, this.#state)
    } catch (error) {
      return `The start could not be written to the state directory: ${error instanceof Error ? error.message : String(error)}.`
    }
    const running = await this.#starter.start(this.assignment, this.#state.start)
    if (typeof running !== 'string') this.#save({ process: { pid: running.pid, startTicks: running.startTicks } })
    return running
  }

  /** Probes a running process until it ends, by itself or because it has to. On return nothing of it is left. */
  async #attend(running: ReplicaProcess): Promise<Exit> {
    const { assignment } = this
    const ready = assignment.readiness === null || this.#state.ready
    this.#log.info({ start: this.#state.start, pid: running.pid }, 'running')
    this.#say({ state: 'RUNNING', ready })
    const health = watchHealth(assignment, running, ready, this.#starter, (now, message) =>
      this.#say({ ready: now, message }),
    )
    const { stop: policy } = assignment
    const { sessions } = this.#starter
    try {
      const why = await first(running.exited, health.dead, this.#stop.signal, this.#life)
      if (why === 'stop' && this.#drain && this.#report.ready)
        await within(running.exited, policy.drainSeconds * 1_000, this.#life)
      health.close()
      if (why === 'dead') {
        this.#because = health.message
        this.#say({ ready: false, message: health.message })
      }
      if (why !== 'exited') return await terminate(running, policy, sessions, this.#life)
      await sessions.clear(running.pid, { patienceMillis: 0, spared: null, signal: this.#life })
      return await orAbort(running.exited, this.#life)
    } finally {
      health.close()
    }
  }

  /** What follows from the end of a process: null when it is to be started again, and the wait for that is over. */
  async #afterExit(exit: Exit): Promise<End | null> {
    const { assignment } = this
    const young = processIsYoung(assignment, this.#state)
    const message = this.#because ?? this.#starter.explain(assignment.replica, exit)
    this.#because = null
    this.#log.info({ start: this.#state.start, exitCode: exit.code, exitSignal: exit.signal }, describeExit(exit))
    if (this.#stop.signal.aborted) return ending('STOPPED', exit, null)
    const taken = young ? await portFault(assignment.ports) : null
    if (taken !== null) return ending('PORT_TAKEN', exit, taken)
    const { restarts, start } = this.#state
    const now = bootSeconds()
    const decision = decideRestart(assignment.restart, restarts, now)
    if (decision.kind === 'giveUp') return ending(decision.endReason, exit, message)
    this.#starter.records.clearStart(assignment.replica, start - 1)
    this.#state = {
      ...this.#state,
      start: start + 1,
      process: null,
      ready: false,
      wasReady: false,
      restarts: [...restarts.slice(-1_000), now],
    }
    this.#say({ start: start + 1, state: 'STARTING', ready: false, message })
    if (decision.afterSeconds > 0) await pause(decision.afterSeconds * 1_000, this.#stop.signal, this.#life)
    return this.#stop.signal.aborted ? ending('STOPPED', exit, null) : null
  }

  #end(end: End): void {
    this.#starter.cleared(this.assignment.replica)
    this.#log.info(end, 'ended')
    this.#say({ ...end, state: 'ENDED', ready: false })
    this.#save({ ended: this.#report, ready: false, process: null })
  }

  #say(change: Partial<Report>): void {
    const next = { ...this.#report, start: this.#state.start, ...change }
    if (sameReport(this.#report, next)) return
    this.#report = next
    if (next.ready !== this.#state.ready)
      this.#save({ ready: next.ready, wasReady: next.ready || this.#state.wasReady })
    this.#onReport(next)
  }

  /** A disk that takes no record stops no replica: the worker that comes next would know less. */
  #save(change: Partial<ReplicaState>): void {
    this.#state = { ...this.#state, ...change }
    try {
      this.#starter.records.write(this.assignment.replica, this.#state)
    } catch (error) {
      this.#log.error({ err: error }, 'the record of a replica could not be written; it goes on')
    }
  }
}

function ending(endReason: End['endReason'], exit: Exit | null, message: string | null): End {
  return { endReason, exitCode: exit?.code ?? null, exitSignal: exit?.signal ?? null, message }
}

/** What comes first. Rejects when the worker ends. */
async function first(
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

/** Waits, at most until a stop. Rejects when the worker ends. */
async function pause(millis: number, stop: AbortSignal, life: AbortSignal): Promise<void> {
  const either = AbortSignal.any([stop, life])
  await wait(millis, undefined, { signal: either }).catch(() => undefined)
  life.throwIfAborted()
}
