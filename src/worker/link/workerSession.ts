import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ReplicaName, Report } from '../assignment.ts'
import type { Supervisor } from '../process/supervisor.ts'
import type {
  AnswerLogRequestData,
  AssignmentsChangedData,
  DrainWorkerData,
  LogRequest,
  RenewLeaseData,
  ReportFreePortsData,
  ReportReplicasData,
} from './api.ts'
import {
  answerLogRequest,
  assignmentFromWire,
  assignmentsChanged,
  drainWorker,
  renewLease,
  reportFreePorts,
  reportReplicas,
} from './api.ts'
import type { Connection } from './connection.ts'
import type { LostContact } from './lostContact.ts'
import type { Outbox } from './outbox.ts'
import type { PortWatch } from './portWatch.ts'
import { payload, type Registration } from './registration.ts'

/** The maximum number of reports per request. */
const batchSize = 500
/** How long a worker that is about to stop its replicas waits for the server's answer. */
const retireMillis = 2_000

/** Follows the worker over all its sessions: the drain, which needs a socket and goes on after a reconnect. */
export interface SessionFollower {
  /** Rejects with what ended the socket. */
  follow(connection: Connection, registration: Registration): Promise<never>
  /** No server could be reached, or none accepted the worker. */
  unreached(): void
}

export interface SessionParts {
  readonly supervisor: Supervisor
  readonly outbox: Outbox
  readonly portWatch: PortWatch
  readonly contact: LostContact
  readonly drain: SessionFollower
  readonly log: Logger
  readonly nextSequence: () => number
}

/**
 * A registered worker on one socket. It follows its assignments, reports, renews its lease, answers requests for logs and
 * follows its drain, all at the same time, until the first of these fails. What was missed between two sockets is in the
 * next SNAPSHOT and in the outbox.
 */
export class WorkerSession {
  readonly #connection: Connection
  readonly #registration: Registration
  readonly #supervisor: Supervisor
  readonly #outbox: Outbox
  readonly #portWatch: PortWatch
  readonly #contact: LostContact
  readonly #drain: SessionFollower
  readonly #log: Logger
  readonly #nextSequence: () => number
  /** The replicas in the parts of a SNAPSHOT that have come so far. */
  #listed: Set<ReplicaName> | null = null
  /** Whether every replica is reported as not ready. */
  #retired = false
  #ended = false
  /** Aborts with the session: nobody waits for an answer any more. */
  readonly #life = new AbortController()

  constructor(connection: Connection, registration: Registration, parts: SessionParts) {
    this.#connection = connection
    this.#registration = registration
    this.#supervisor = parts.supervisor
    this.#outbox = parts.outbox
    this.#portWatch = parts.portWatch
    this.#contact = parts.contact
    this.#drain = parts.drain
    this.#log = parts.log
    this.#nextSequence = parts.nextSequence
    setMaxListeners(0, this.#life.signal)
  }

  /** Rejects with what ended the session. */
  async run(): Promise<never> {
    const { worker, epoch } = this.#registration
    const onChange = (data: AssignmentsChangedData): void => this.#applyChange(data)
    const following = this.#connection.follow<AssignmentsChangedData>(assignmentsChanged, { worker, epoch }, onChange)
    try {
      const drained = this.#drain.follow(this.#connection, this.#registration)
      const tasks = [this.#renewLease(), this.#sendReports(), this.#reportFreePorts()]
      return await Promise.race([this.#connection.closed, following, ...tasks, drained])
    } finally {
      this.#ended = true
      this.#life.abort()
    }
  }

  /**
   * Reports that no replica is ready any more, so that the addresses leave the endpoints before the processes end. Then the
   * worker is drained, or its host would get new replicas meanwhile.
   */
  async retire(): Promise<void> {
    this.#retired = true
    const ready = this.#supervisor.reports().filter((report) => report.ready)
    for (let from = 0; from < ready.length; from += batchSize)
      await this.#sendBatch({ full: false, reports: ready.slice(from, from + batchSize) }, retireMillis)
    const { worker, epoch } = this.#registration
    const drain = { input: { worker, epoch } }
    payload((await this.#connection.request<DrainWorkerData>(drainWorker, drain, retireMillis)).drainWorker)
  }

  #applyChange({ assignmentsChanged: change }: AssignmentsChangedData): void {
    // Ignore frames that arrive after the session ended: nobody would stop what they start.
    if (this.#ended) return
    if (change.kind === 'GONE') throw new Error('The server does not know this worker any more.')
    for (const assignment of change.assignments) this.#supervisor.assign(assignmentFromWire(assignment))
    for (const replica of change.removed) this.#supervisor.release(replica, { drain: true })
    if (change.kind === 'SNAPSHOT') {
      this.#listed ??= new Set()
      for (const { replica } of change.assignments) this.#listed.add(replica)
      if (change.last) {
        this.#supervisor.releaseAllBut(this.#listed)
        this.#listed = null
      }
    }
    for (const request of change.logRequests) void this.#answerLogRequest(request)
  }

  async #renewLease(): Promise<never> {
    const { worker, epoch, leaseSeconds, graceSeconds } = this.#registration
    const everyMillis = (leaseSeconds * 1_000) / 3
    for (;;) {
      const sentAt = this.#contact.mark()
      // The time limit leaves enough of the lease to find another server.
      const answer = await this.#connection.request<RenewLeaseData>(
        renewLease,
        { input: { worker, epoch } },
        everyMillis,
      )
      const { resync } = payload(answer.renewLease)
      this.#contact.heard(sentAt, leaseSeconds + graceSeconds)
      if (resync) this.#outbox.askForAll()
      await wait(everyMillis, undefined, { ref: false })
      if (this.#ended) throw new Error('The session has ended.')
    }
  }

  /** Sends one request at a time, so that reports arrive in order. Changes meanwhile go into the next request. */
  async #sendReports(): Promise<never> {
    for (;;) {
      await this.#outbox.filled()
      if (this.#ended) throw new Error('The session has ended.')
      const batch = this.#outbox.take(batchSize, () => this.#supervisor.reports())
      try {
        await this.#sendBatch(batch, this.#registration.leaseSeconds * 1_000)
        this.#supervisor.acknowledge(batch.reports)
      } catch (error) {
        // The server may have taken the batch. A repetition changes nothing, because a report names its placement and state.
        this.#outbox.putBack(batch)
        throw error
      }
    }
  }

  /** Reports ports that were watched and are free again. */
  async #reportFreePorts(): Promise<never> {
    const { worker, epoch, leaseSeconds } = this.#registration
    for (;;) {
      const ports = await this.#portWatch.freed()
      if (this.#ended) {
        this.#portWatch.putBack(ports)
        throw new Error('The session has ended.')
      }
      try {
        const input = { worker, epoch, ports }
        const answer = await this.#connection.request<ReportFreePortsData>(
          reportFreePorts,
          { input },
          leaseSeconds * 1_000,
        )
        payload(answer.reportFreePorts)
        this.#log.info({ ports }, 'ports that a replica may wait for are free again')
      } catch (error) {
        this.#portWatch.putBack(ports)
        throw error
      }
    }
  }

  async #sendBatch(
    { full, reports }: { full: boolean; reports: readonly Report[] },
    timeoutMillis: number,
  ): Promise<void> {
    const { worker, epoch } = this.#registration
    const outgoing = this.#retired ? reports.map((report) => ({ ...report, ready: false })) : reports
    const input = { worker, epoch, sequence: this.#nextSequence(), full, reports: outgoing }
    const answer = await this.#connection.request<ReportReplicasData>(reportReplicas, { input }, timeoutMillis)
    const { fenced, portsToWatch } = payload(answer.reportReplicas)
    if (portsToWatch !== null) this.#portWatch.replace(portsToWatch)
    for (const replica of fenced) this.#supervisor.release(replica, { drain: false })
  }

  async #answerLogRequest(request: LogRequest): Promise<void> {
    const { worker, epoch, leaseSeconds } = this.#registration
    try {
      const { id, replica, since, ...rest } = request
      const question = { ...rest, since: since === null ? null : Date.parse(since) }
      const { runs, starts, ...found } = await this.#supervisor.readLog(replica, question, this.#life.signal)
      if (this.#ended) return
      const dated = <Mark extends { readonly at: number | null }>(mark: Mark) => ({
        ...mark,
        at: mark.at === null ? null : new Date(mark.at).toISOString(),
      })
      const input = { worker, epoch, request: id, ...found, runs: runs.map(dated), starts: starts.map(dated) }
      const answer = await this.#connection.request<AnswerLogRequestData>(
        answerLogRequest,
        { input },
        leaseSeconds * 1_000,
      )
      payload(answer.answerLogRequest)
    } catch (error) {
      this.#log.warn({ err: error, replica: request.replica }, 'a request for logs could not be answered')
    }
  }
}
