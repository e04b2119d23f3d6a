import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Rng } from '../feed/rng.ts'
import type { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { kill, processesWith } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'
import { type Cluster, graceSeconds, keepLog, leaseSeconds, type SoakServer } from './cluster.ts'
import type { Tally } from './tally.ts'

interface Silence {
  readonly from: number
  until: number | null
}

/** A lease and a grace may be judged so much later than they end. */
const slackMillis = 2_500
/** What was brought back is left alone for so long: on a slow machine as well, servers and workers are there most of the time. */
const restMillis = 10_000
const returnSeconds = 120

/** Kills and freezes servers, workers and replicas at random, and brings back what it kills. */
export class Chaos {
  readonly #cluster: Cluster
  readonly #rng: Rng
  readonly #tally: Tally
  readonly #isHeard: (worker: string, since: number) => Promise<boolean>
  readonly #busy = new Set<SoakServer | WorkerProcess>()
  readonly #spells = new Set<Promise<void>>()
  readonly #silences = new Map<string, Silence[]>()
  /** Replicas whose process was killed, by global id. */
  readonly killed = new Set<string>()

  /** `isHeard`: whether a server has heard of the worker since the instant. */
  constructor(cluster: Cluster, rng: Rng, tally: Tally, isHeard: (worker: string, since: number) => Promise<boolean>) {
    this.#isHeard = isHeard
    this.#cluster = cluster
    this.#rng = rng
    this.#tally = tally
  }

  /** Until `signal`; then waits until all that it ended runs again. */
  async run(signal: AbortSignal, mostMillis: number): Promise<void> {
    while (!signal.aborted) {
      await wait(this.#rng.below(mostMillis), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
      const spell = this.#strike(signal)
      this.#spells.add(spell)
      spell.finally(() => this.#spells.delete(spell)).catch(() => undefined)
    }
    await Promise.all(this.#spells)
  }

  /** Whether the worker, or one of the host where it is null, was silent so long before the instant that it may be lost. */
  mayBeLost(worker: string | null, host: string, at: number): boolean {
    const workers =
      worker === null ? [...this.#cluster.hosts].flatMap(([name, on]) => (on === host ? [name] : [])) : [worker]
    return workers.some((name) => this.#wasSilent(name, at))
  }

  #wasSilent(worker: string, at: number): boolean {
    const from = at - (leaseSeconds + graceSeconds) * 1_000 - slackMillis
    const silent = (this.#silences.get(worker) ?? []).reduce(
      (sum, silence) => sum + Math.max(0, Math.min(silence.until ?? at, at) - Math.max(silence.from, from)),
      0,
    )
    return silent >= graceSeconds * 1_000
  }

  #strike(signal: AbortSignal): Promise<void> {
    const rng = this.#rng
    const dice = rng.below(10)
    if (dice === 0) return Promise.resolve(this.#killReplica())
    if (dice < 5) {
      const server = rng.of(this.#cluster.servers)
      return this.#once(server, signal, () => this.#strikeServer(server, signal))
    }
    const worker = rng.of(this.#cluster.workers)
    return this.#once(worker, signal, () => this.#strikeWorker(worker, signal))
  }

  async #once(target: SoakServer | WorkerProcess, signal: AbortSignal, strike: () => Promise<void>): Promise<void> {
    if (this.#busy.has(target)) return
    this.#busy.add(target)
    try {
      await strike()
      await wait(restMillis, undefined, { signal }).catch(() => undefined)
    } catch (error) {
      this.#tally.fault(`${target.name} could not be struck and brought back: ${String(error)}`)
    } finally {
      this.#busy.delete(target)
    }
  }

  async #strikeServer(server: SoakServer, signal: AbortSignal): Promise<void> {
    const { process } = server
    const pause = () => this.#pause([500, 3_000, 12_000], signal)
    const means = this.#rng.of(['SIGKILL', 'SIGKILL', 'SIGSTOP', 'SIGTERM'] as const)
    this.#tally.kill(`${means} of a server`)
    if (means === 'SIGSTOP') {
      process.child.kill('SIGSTOP')
      await pause()
      process.child.kill('SIGCONT')
      return
    }
    const status = await process.end(means)
    if (means === 'SIGTERM' && status !== 0) this.#tally.fault(`${server.name} ended with ${status} on SIGTERM.`)
    keepLog(this.#cluster, server)
    await pause()
    await process.start()
    // Throws when it does not listen.
    if (process.url !== server.client.url) throw new Error(`it listens at ${process.url}`)
  }

  async #strikeWorker(worker: WorkerProcess, signal: AbortSignal): Promise<void> {
    const means = this.#rng.of(['SIGKILL', 'SIGKILL', 'SIGSTOP', 'SIGTERM'] as const)
    this.#tally.kill(`${means} of a worker`)
    const silence: Silence = { from: Date.now(), until: null }
    this.#silences.set(worker.name, [...(this.#silences.get(worker.name) ?? []).slice(-20), silence])
    // Within the lease, within the grace, and beyond.
    const pause = () => this.#pause([1_000, 4_000, 9_000, 22_000], signal)
    if (means === 'SIGSTOP') {
      worker.signal('SIGSTOP')
      await pause()
      worker.signal('SIGCONT')
    } else {
      await worker.end(means)
      await pause()
      worker.start()
    }
    const back = Date.now()
    // It starts, finds its replicas and looks for a server that answers.
    await until(() => this.#isHeard(worker.name, back), 'a server hears of it', returnSeconds)
    silence.until = Date.now()
  }

  #pause(most: readonly number[], signal: AbortSignal): Promise<void> {
    return wait(this.#rng.below(this.#rng.of(most)), undefined, { signal }).catch(() => undefined)
  }

  #killReplica(): void {
    const pids = processesWith(`SOAK_RUN=${this.#cluster.directory}`).flatMap((pid) => {
      const replica = replicaOf(pid)
      return replica === null ? [] : [{ pid, replica }]
    })
    if (pids.length === 0) return
    const { pid, replica } = this.#rng.of(pids)
    this.killed.add(replica)
    this.#tally.kill('SIGKILL of a replica')
    try {
      kill(pid, 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
}

/** The replica, by global id, that a process belongs to. */
export function replicaOf(pid: number): string | null {
  try {
    return /(?:^|\0)XCE_REPLICA_ID=([^\0]*)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? null
  } catch {
    return null
  }
}
