import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ReplicaName, Report } from '../assignment.ts'
import type { Drain } from '../drain/drain.ts'
import type { Supervisor } from '../process/supervisor.ts'
import type {
  AnswerLogRequestData,
  AssignmentsChangedData,
  LogRequest,
  RenewLeaseData,
  ReportReplicasData,
} from './api.ts'
import { answerLogRequest, assignmentFromWire, assignmentsChanged, renewLease, reportReplicas } from './api.ts'
import type { Connection } from './connection.ts'
import type { LostContact } from './lostContact.ts'
import type { Outbox } from './outbox.ts'
import { payload, type Registration } from './registration.ts'

/** Reports per request. */
const batchSize = 500
/** A worker that is to stop its replicas waits for a server's answer for so long. */
const retireMillis = 2_000

export interface SessionParts {
  readonly supervisor: Supervisor
  readonly outbox: Outbox
  readonly contact: LostContact
  readonly drain: Drain
  readonly log: Logger
  readonly nextSequence: () => number
}

/**
 * A registered worker on one socket: it follows its assignments, reports, renews its lease, answers requests for logs and is drained when it is asked
 * to, all at once, until the first of them fails. All is level-triggered: what was missed between two sockets is in the next SNAPSHOT and in the outbox.
 */
export class WorkerSession {
  readonly #connection: Connection
  readonly #registration: Registration
  readonly #supervisor: Supervisor
  readonly #outbox: Outbox
  readonly #contact: LostContact
  readonly #drain: Drain
  readonly #log: Logger
  readonly #nextSequence: () => number
  /** Replicas of the parts of a SNAPSHOT that came so far. */
  #listed: Set<ReplicaName> | null = null
  /** Nothing is ready for anybody any more. */
  #retired = false
  #ended = false

  constructor(connection: Connection, registration: Registration, parts: SessionParts) {
    this.#connection = connection
    this.#registration = registration
    this.#supervisor = parts.supervisor
    this.#outbox = parts.outbox
    this.#contact = parts.contact
    this.#drain = parts.drain
    this.#log = parts.log
    this.#nextSequence = parts.nextSequence
  }

  /** Rejects with what ended it. */
  async run(): Promise<never> {
    const { worker, epoch } = this.#registration
    const onChange = (data: AssignmentsChangedData): void => this.#take(data)
    const following = this.#connection.follow<AssignmentsChangedData>(assignmentsChanged, { worker, epoch }, onChange)
    try {
      const drained = this.#drain.follow(this.#connection, this.#registration)
      return await Promise.race([this.#connection.closed, following, this.#renew(), this.#report(), drained])
    } finally {
      this.#ended = true
    }
  }

  /** Tells that nothing here is ready any more, so that its addresses leave the endpoints before its processes end. Rejects where no server takes that. */
  async retire(): Promise<void> {
    this.#retired = true
    const ready = this.#supervisor.reports().filter((report) => report.ready)
    for (let from = 0; from < ready.length; from += batchSize)
      await this.#send({ full: false, reports: ready.slice(from, from + batchSize) }, retireMillis)
  }

  #take({ assignmentsChanged: change }: AssignmentsChangedData): void {
    // A frame that was on its way when the session ended: what it would start nobody stops again.
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
    for (const request of change.logRequests) void this.#answer(request)
  }

  async #renew(): Promise<never> {
    const { worker, epoch, leaseSeconds, graceSeconds } = this.#registration
    const everyMillis = (leaseSeconds * 1_000) / 3
    for (;;) {
      const sentAt = this.#contact.mark()
      // A server that does not answer in time is left while there is time enough to find another.
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

  /** One request at a time, so that reports arrive in order; what changes meanwhile goes into the next one. */
  async #report(): Promise<never> {
    for (;;) {
      await this.#outbox.filled()
      if (this.#ended) throw new Error('The session has ended.')
      const batch = this.#outbox.take(batchSize, () => this.#supervisor.reports())
      try {
        await this.#send(batch, this.#registration.leaseSeconds * 1_000)
        this.#supervisor.acknowledge(batch.reports)
      } catch (error) {
        // Perhaps it was taken. Told again it changes nothing: it says what is so, and of which placement.
        this.#outbox.putBack(batch)
        throw error
      }
    }
  }

  async #send({ full, reports }: { full: boolean; reports: readonly Report[] }, timeoutMillis: number): Promise<void> {
    const { worker, epoch } = this.#registration
    const said = this.#retired ? reports.map((report) => ({ ...report, ready: false })) : reports
    const input = { worker, epoch, sequence: this.#nextSequence(), full, reports: said }
    const answer = await this.#connection.request<ReportReplicasData>(reportReplicas, { input }, timeoutMillis)
    const { fenced } = payload(answer.reportReplicas)
    for (const replica of fenced) this.#supervisor.release(replica, { drain: false })
  }

  async #answer(request: LogRequest): Promise<void> {
    const { worker, epoch, leaseSeconds } = this.#registration
    try {
      const tail = await this.#supervisor.tail(request.replica, request.tailLines)
      const input = { worker, epoch, request: request.id, ...tail }
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
