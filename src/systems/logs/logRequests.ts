import type { ReplicaId, WorkerId } from '../../model/id.ts'
import type { LogAnswer, LogQuestion } from '../../model/replicaLog.ts'
import type { LogRelay, LogRequest, RelayedRequest } from './logRelay.ts'

interface Waiting extends Pending {
  readonly answered: (answer: LogAnswer | null) => void
}

/** A question that the worker may not have answered yet. */
interface Pending {
  readonly workerId: WorkerId
  readonly request: LogRequest
}

/** A question of another server, which may have been answered there already. */
interface Relayed extends Pending {
  readonly until: number
}

export interface AskOptions {
  /** Ends the waiting: nobody reads the answer any more. */
  readonly signal?: AbortSignal
}

/** A reader of a log waits this long for the worker, besides the time for which the worker may wait. */
const answerWithinMillis = 5_000
/** At most so many questions of other servers are remembered. */
const mostRelayed = 1_024

/**
 * Passes questions about logs to the workers whose assignments are followed on this server or, through the relay, on
 * another one, and passes their answers back. Nothing of it is stored and none of it is a fact.
 */
export class LogRequests {
  readonly #newId: () => string
  readonly #followers = new Map<WorkerId, Set<(request: LogRequest) => void>>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #relayed = new Map<string, Relayed>()
  readonly #relay: LogRelay | null

  /** `relay` reaches the other servers; null means that there are none. */
  constructor(newId: () => string, relay: LogRelay | null = null) {
    this.#newId = newId
    this.#relay = relay
  }

  async start(): Promise<void> {
    await this.#relay?.start({
      onRequest: (request) => this.#takeRelayed(request),
      onAnswer: (id, answer) => this.#answerWaiting(id, answer),
    })
  }

  /**
   * Hands the questions about a worker's replicas to `listener`, until the returned function is called. Those that wait
   * for an answer come again, because the worker may have lost them with its last connection.
   */
  follow(workerId: WorkerId, listener: (request: LogRequest) => void): () => void {
    const followers = this.#followers.get(workerId) ?? new Set()
    followers.add(listener)
    this.#followers.set(workerId, followers)
    this.#dropOld()
    for (const pending of [...this.#waiting.values(), ...this.#relayed.values()])
      if (pending.workerId === workerId) listener(pending.request)
    return () => {
      followers.delete(listener)
      if (followers.size === 0 && this.#followers.get(workerId) === followers) this.#followers.delete(workerId)
    }
  }

  /**
   * Asks about a replica's log. Null when its worker is not connected, or does not answer within 5 seconds besides those
   * that the question gives it.
   */
  async ask(
    workerId: WorkerId,
    replica: ReplicaId,
    question: LogQuestion,
    { signal }: AskOptions = {},
  ): Promise<LogAnswer | null> {
    const followers = this.#followers.get(workerId)
    if ((followers === undefined && this.#relay === null) || signal?.aborted === true) return null
    const id = this.#relay?.newRequestId() ?? this.#newId()
    const onAbort = () => this.#answerWaiting(id, null)
    try {
      return await new Promise((resolve) => {
        const timeout = setTimeout(() => this.#answerWaiting(id, null), millisFor(question))
        const request = { id, replica, ...question }
        this.#waiting.set(id, {
          workerId,
          request,
          answered: (answer) => {
            clearTimeout(timeout)
            resolve(answer)
          },
        })
        signal?.addEventListener('abort', onAbort)
        for (const listener of followers ?? []) listener(request)
        // The other servers are asked even when somebody follows here: the worker may have moved on while its old socket
        // has not noticed.
        this.#relay?.ask(workerId, request)
      })
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /**
   * Takes a worker's answer, here or for the server that asked: the worker may have changed servers meanwhile. Returns
   * false when it is known here that nobody waits for it any more, or that another worker has to give it.
   */
  answer(workerId: WorkerId, id: string, answer: LogAnswer): boolean {
    this.#relayed.delete(id)
    if (this.#waiting.get(id)?.workerId !== workerId) return this.#relay?.answer(workerId, id, answer) ?? false
    this.#answerWaiting(id, answer)
    return true
  }

  /** The server stops: everyone who waits gets null. */
  async stop(): Promise<void> {
    for (const id of [...this.#waiting.keys()]) this.#answerWaiting(id, null)
    await this.#relay?.stop()
  }

  #takeRelayed({ workerId, ...request }: RelayedRequest): void {
    this.#dropOld()
    const until = performance.now() + millisFor(request)
    if (this.#relayed.size < mostRelayed) this.#relayed.set(request.id, { workerId, request, until })
    for (const listener of this.#followers.get(workerId) ?? []) listener(request)
  }

  #dropOld(): void {
    const now = performance.now()
    for (const [id, { until }] of this.#relayed) if (until < now) this.#relayed.delete(id)
  }

  #answerWaiting(id: string, answer: LogAnswer | null): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    this.#relay?.forget(id)
    waiting?.answered(answer)
  }
}

const millisFor = ({ waitSeconds }: LogQuestion) => answerWithinMillis + waitSeconds * 1_000
