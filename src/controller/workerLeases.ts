import type { Logger } from 'pino'
import type { CommittedFact } from '../model/fact.ts'
import type { HostId, Instant } from '../model/id.ts'
import { type Meter, noMeter } from '../model/metrics.ts'
import { judgeLeases, type WorkerVerdict } from '../rules/workerLeases.ts'
import type { DatabaseClock } from '../store/clock.ts'
import type { Committer } from '../store/commit/committer.ts'
import type { Database } from '../store/database.ts'
import { forgetServer, shortenLeases, writeHeartbeat } from '../store/lease.ts'
import { readWorkerLeases } from '../store/readWorkerLeases.ts'
import type { Tail } from '../store/tail.ts'
import { settleHosts } from './settleHosts.ts'

/** The longest that one setTimeout can wait is 24.8 days. */
const longestMillis = 86_400_000
/** Heartbeats in a lease: with two of them missing, half of it is over. */
const beatsPerLease = 4

/**
 * The leases of workers (R15). It wakes when the earliest lease or grace may be over, judges by the database's clock, writes what it found, and
 * tells the services. Every server does: what two of them say at once is said once, for the host's row is the guard.
 *
 * A lease counts only time in which this server could have taken its renewal. So each server writes a heartbeat, and when more than half a lease
 * passed between two of them (the database was away, the process was frozen, the machine slept, the clock was set), every lease starts anew here.
 * The same heartbeat guards the write: a server that froze between its judgement and its write changes nothing.
 */
export class WorkerLeases {
  readonly #parts: { readonly database: Database; readonly committer: Committer }
  readonly #clock: DatabaseClock
  readonly #tail: Tail
  readonly #log: Logger
  readonly #serverId: string
  readonly #meter: Meter
  readonly #leaseSeconds: number
  readonly #graceSeconds: number
  #beatAt: Instant = 0
  #countsFrom: Instant = 0
  #beating: Promise<boolean> | null = null
  #heart: NodeJS.Timeout | undefined
  #wakeAt: Instant | null = null
  #wake: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  /** Told of changes while a run was under way, which may have read the rows already. */
  #again = false
  /** Hosts that changed, by whatever server: looked at once more a while later, in case that one died before it had told all services. */
  readonly #changed = new Set<HostId>()
  #look: NodeJS.Timeout | undefined
  #unsubscribe: (() => void) | null = null

  constructor(options: {
    readonly database: Database
    readonly committer: Committer
    readonly clock: DatabaseClock
    readonly tail: Tail
    readonly log: Logger
    readonly newId: () => string
    readonly meter?: Meter
    readonly config: { readonly leaseSeconds: number; readonly graceSeconds: number }
  }) {
    this.#parts = { database: options.database, committer: options.committer }
    this.#clock = options.clock
    this.#tail = options.tail
    this.#log = options.log
    this.#serverId = options.newId()
    this.#meter = options.meter ?? noMeter
    this.#leaseSeconds = options.config.leaseSeconds
    this.#graceSeconds = options.config.graceSeconds
  }

  /** Call it when workers can reach this server: leases count from now on. */
  async start(): Promise<void> {
    this.#beatAt = this.#countsFrom = await writeHeartbeat(this.#parts.database, this.#serverId)
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#take(facts),
      () => this.#arm(this.#clock.now()),
    )
    this.#heart = setInterval(() => void this.#beat(), (this.#leaseSeconds * 1000) / beatsPerLease)
    await settleHosts(this.#parts, 'all')
    this.#arm(this.#clock.now())
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = null
    clearInterval(this.#heart)
    clearTimeout(this.#wake)
    clearTimeout(this.#look)
    await this.#running
    await this.#beating
    await forgetServer(this.#parts.database, this.#serverId)
  }

  /** True: it was written. Never rejects: a heartbeat that failed is a late one. */
  #beat(): Promise<boolean> {
    this.#beating ??= this.#writeBeat().finally(() => {
      this.#beating = null
    })
    return this.#beating
  }

  async #writeBeat(): Promise<boolean> {
    try {
      const sentAt = this.#clock.mark()
      const at = await writeHeartbeat(this.#parts.database, this.#serverId)
      this.#clock.observe(at, sentAt)
      const pauseMillis = at - this.#beatAt
      this.#beatAt = at
      if (pauseMillis < 0) await shortenLeases(this.#parts.database, this.#leaseSeconds)
      if (pauseMillis < 0 || pauseMillis > this.#leaseSeconds * 500) {
        this.#countsFrom = at
        this.#meter.count('leasesAnew')
        this.#log.warn(
          { pauseMillis },
          'This server could not write its heartbeat for more than half a lease, or the database’s clock was set: every lease starts anew.',
        )
        this.#arm(at)
      }
      return true
    } catch (error) {
      this.#log.warn({ err: error }, 'The heartbeat could not be written.')
      return false
    }
  }

  #take(facts: readonly CommittedFact[]): void {
    const hosts = facts.flatMap((fact) => (fact.kind === 'host' && fact.hostId !== null ? [fact.hostId] : []))
    if (hosts.length === 0) return
    this.#arm(this.#clock.now())
    this.#lookLater(hosts)
  }

  #lookLater(hosts: readonly HostId[]): void {
    for (const host of hosts) this.#changed.add(host)
    if (this.#unsubscribe !== null) this.#look ??= setTimeout(() => this.#lookAgain(), (this.#leaseSeconds * 1000) / 2)
  }

  /** Not in the midst of a judgement, and again where it fails: who else would tell what a server that died did not? */
  #lookAgain(): void {
    this.#look = undefined
    const hosts = [...this.#changed]
    if (this.#running !== null) {
      this.#lookLater([])
      return
    }
    this.#changed.clear()
    this.#begin(() =>
      settleHosts(this.#parts, hosts).catch((error: unknown) => {
        this.#lookLater(hosts)
        throw error
      }),
    )
  }

  /** Wakes at `at` at the latest. */
  #arm(at: Instant): void {
    if (this.#unsubscribe === null || (this.#wakeAt !== null && this.#wakeAt <= at)) return
    this.#wakeAt = at
    clearTimeout(this.#wake)
    this.#wake = setTimeout(
      () => {
        this.#wakeAt = null
        this.#begin(() => this.#judge())
      },
      Math.min(Math.max(at - this.#clock.now(), 0), longestMillis),
    )
  }

  /** One run at a time; what wakes during it makes one more. */
  #begin(run: () => Promise<void>): void {
    if (this.#unsubscribe === null) return
    this.#again = this.#running !== null
    this.#running ??= run()
      .catch((error: unknown) => {
        this.#log.warn({ err: error }, 'Workers could not be judged by their leases: trying again.')
        this.#arm(this.#clock.now() + (this.#leaseSeconds * 1000) / beatsPerLease)
      })
      .finally(() => {
        this.#running = null
        if (this.#again) this.#arm(this.#clock.now())
      })
  }

  async #judge(): Promise<void> {
    // First: what is judged then was read after a heartbeat that came in time, or every lease has just started anew.
    if (!(await this.#beat())) throw new Error('There is no heartbeat to judge by.')
    const workers = await readWorkerLeases(this.#parts.database)
    const { verdicts, wakeAt } = judgeLeases({
      workers,
      countsFrom: this.#countsFrom,
      now: this.#beatAt,
      leaseSeconds: this.#leaseSeconds,
      graceSeconds: this.#graceSeconds,
    })
    if (wakeAt !== null) this.#arm(wakeAt)
    if (verdicts.length === 0) return
    const changed = (await Promise.all(verdicts.map((verdict) => this.#write(verdict)))).flat()
    this.#lookLater(changed)
    await settleHosts(this.#parts, changed)
    // What was judged has another end to wait for now; what was refused is looked at anew, but not in a busy loop.
    this.#arm(this.#clock.now() + (changed.length > 0 ? 0 : (this.#leaseSeconds * 1000) / beatsPerLease))
  }

  async #write({ worker, to, reason, message }: WorkerVerdict): Promise<HostId[]> {
    const { id: workerId, hostId, leaseUntil, name, hostName } = worker
    const by = { serverId: this.#serverId, heartbeatSeconds: this.#leaseSeconds / 2 }
    const outcome = await this.#parts.committer.write({ kind: 'judgeWorker', hostId, workerId, to, leaseUntil, ...by, reason, message })
    if (outcome.kind !== 'host' || !outcome.changed) return []
    this.#meter.count('verdicts', 1, to)
    this.#log.warn({ host: hostName, worker: name, to }, message)
    return to === 'HELD' ? [] : [hostId]
  }
}
