import type { Logger } from 'pino'
import type { Tail } from '../../feed/tail.ts'
import type { CommittedFact } from '../../model/fact.ts'
import type { HostId } from '../../model/id.ts'
import { type Meter, noMeter } from '../../model/metrics.ts'
import { judgeLeases, type WorkerVerdict } from '../../rules/hosts/workerLeases.ts'
import type { Committer } from '../../store/commit/committer.ts'
import type { DatabaseClock } from '../../store/database/clock.ts'
import type { Database } from '../../store/database/database.ts'
import { readWorkerLeases } from '../../store/read/readWorkerLeases.ts'
import { CoalescedRuns } from '../timers/coalescedRuns.ts'
import { DatabaseAlarm } from '../timers/databaseAlarm.ts'
import { ServerHeartbeat } from './serverHeartbeat.ts'
import { tellServices } from './tellServices.ts'

/** The wait between two rounds that fail. */
const longestBetweenLooksMillis = 600_000

/**
 * Judges the leases of workers (R15). It wakes when the earliest lease or grace may be over, judges by the database's
 * clock, writes its findings and tells the services. Every server does this; what two of them find at the same time is
 * written once, because the host's row is the guard. The server's heartbeat guards the write as well, so a server that
 * froze between judgement and write changes nothing.
 */
export class WorkerLeases {
  readonly #parts: { readonly database: Database; readonly committer: Committer }
  readonly #tail: Tail
  readonly #log: Logger
  readonly #meter: Meter
  readonly #leaseSeconds: number
  readonly #graceSeconds: number
  readonly #heartbeat: ServerHeartbeat
  readonly #judgements: CoalescedRuns
  readonly #wakeUp: DatabaseAlarm
  readonly #looks: CoalescedRuns
  /**
   * Hosts that changed, whichever server changed them. They are looked at once more later, in case that server died
   * before it had told all services.
   */
  #changed: Set<HostId> | 'all' = new Set()
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
    const { database, committer, clock, log, config } = options
    this.#parts = { database, committer }
    this.#tail = options.tail
    this.#log = log
    this.#meter = options.meter ?? noMeter
    this.#leaseSeconds = config.leaseSeconds
    this.#graceSeconds = config.graceSeconds
    this.#heartbeat = new ServerHeartbeat({
      ...options,
      leaseSeconds: config.leaseSeconds,
      onLeasesRestarted: () => this.#judgements.wake(),
    })
    const againAfterMillis = () => this.#heartbeat.periodMillis
    const judging = 'Workers could not be judged by their leases'
    this.#judgements = new CoalescedRuns({ run: () => this.#judge(), log, failure: judging, againAfterMillis })
    this.#wakeUp = new DatabaseAlarm(clock, () => this.#judgements.wake())
    const looking = 'Services could not be told what became of their hosts'
    this.#looks = new CoalescedRuns({
      run: () => this.#lookAgain(),
      log,
      failure: looking,
      // A broken service stays broken for a while, so the next attempt waits.
      againAfterMillis: (failures) => Math.min(longestBetweenLooksMillis, againAfterMillis() * 2 ** failures),
    })
  }

  /** Call this when workers can reach the server: leases count from then on. */
  async start(): Promise<void> {
    await this.#heartbeat.start()
    this.#unsubscribe = this.#tail.subscribe(
      (facts) => this.#take(facts),
      () => {
        this.#judgements.wake()
        this.#lookLater('all')
      },
    )
    // A service that can't be told must not keep the server from starting.
    this.#changed = 'all'
    this.#looks.wake()
    await this.#looks.idle()
    this.#judgements.wake()
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#wakeUp.stop()
    await Promise.all([this.#judgements.stop(), this.#looks.stop()])
    await this.#heartbeat.stop()
  }

  #take(facts: readonly CommittedFact[]): void {
    const hosts = facts.flatMap((fact) => (fact.kind === 'host' && fact.hostId !== null ? [fact.hostId] : []))
    if (hosts.length === 0) return
    // Whatever a host's fact starts ends a lease or a grace later, so a thousand registrations cause one look at all
    // workers.
    this.#judgements.wakeWithin(this.#heartbeat.periodMillis)
    this.#lookLater(hosts)
  }

  #lookLater(hosts: readonly HostId[] | 'all'): void {
    if (hosts.length === 0) return
    this.#note(hosts)
    this.#looks.wakeWithin((this.#leaseSeconds * 1000) / 2)
  }

  /** Looks once more, and again when that fails, because nobody else tells what a dead server left untold. */
  async #lookAgain(): Promise<void> {
    const hosts = this.#changed === 'all' ? 'all' : [...this.#changed]
    this.#changed = new Set()
    try {
      await tellServices(this.#parts, hosts)
    } catch (error) {
      this.#note(hosts)
      throw error
    }
  }

  #note(hosts: readonly HostId[] | 'all'): void {
    if (hosts === 'all') this.#changed = 'all'
    else if (this.#changed !== 'all') for (const host of hosts) this.#changed.add(host)
  }

  async #judge(): Promise<void> {
    // The heartbeat comes first: everything judged afterwards was read after a heartbeat in time, or every lease has
    // just started again.
    if (!(await this.#heartbeat.beat())) {
      // The heartbeat has logged its failure already.
      this.#judgements.wakeWithin(this.#heartbeat.periodMillis)
      return
    }
    const { at: now, countsFrom } = this.#heartbeat
    const workers = await readWorkerLeases(this.#parts.database)
    const { verdicts, wakeAt } = judgeLeases({
      workers,
      countsFrom,
      now,
      leaseSeconds: this.#leaseSeconds,
      graceSeconds: this.#graceSeconds,
    })
    if (wakeAt !== null) this.#wakeUp.arm(wakeAt)
    if (verdicts.length === 0) return
    const written = await Promise.allSettled(verdicts.map((verdict) => this.#write(verdict)))
    const changed = written.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    this.#lookLater(changed)
    await tellServices(this.#parts, changed)
    for (const one of written) if (one.status === 'rejected') throw one.reason
    // Judged workers have another deadline now. A refused write is looked at again, but not in a busy loop.
    this.#judgements.wakeWithin(changed.length > 0 ? 0 : this.#heartbeat.periodMillis)
  }

  async #write({ worker, to, reason, message }: WorkerVerdict): Promise<HostId[]> {
    const { id: workerId, hostId, leaseUntil, name, hostName } = worker
    const by = { serverId: this.#heartbeat.serverId, heartbeatSeconds: this.#leaseSeconds / 2 }
    const outcome = await this.#parts.committer.write({
      kind: 'judgeWorker',
      hostId,
      workerId,
      to,
      leaseUntil,
      ...by,
      reason,
      message,
    })
    if (outcome.kind !== 'host' || !outcome.changed) return []
    this.#meter.count('verdicts', 1, to)
    this.#log.warn({ host: hostName, worker: name, to }, message)
    return to === 'HELD' ? [] : [hostId]
  }
}
