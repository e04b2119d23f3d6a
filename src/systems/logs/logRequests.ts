import type { ReplicaId, WorkerId } from '../../model/id.ts'
import type { LogRelay, RelayedRequest } from './logRelay.ts'
import type { LogRequest, LogText } from './logText.ts'

interface Waiting {
  readonly workerId: WorkerId
  readonly answered: (text: LogText | null) => void
}

/** A reader of a log waits this long for the worker. */
const answerWithinMillis = 5_000

/**
 * Passes requests for logs to the workers whose assignments are followed on this server or, through the relay, on
 * another one, and passes their answers back. Nothing of it is stored and none of it is a fact.
 */
export class LogRequests {
  readonly #newId: () => string
  readonly #followers = new Map<WorkerId, Set<(request: LogRequest) => void>>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #relay: LogRelay | null

  /** `relay` reaches the other servers; null means that there are none. */
  constructor(newId: () => string, relay: LogRelay | null = null) {
    this.#newId = newId
    this.#relay = relay
  }

  async start(): Promise<void> {
    await this.#relay?.start({
      onRequest: (request) => this.#takeRelayed(request),
      onAnswer: (id, text) => this.#answerWaiting(id, text),
    })
  }

  /** Hands the requests for logs of a worker's replicas to `listener`, until the returned function is called. */
  follow(workerId: WorkerId, listener: (request: LogRequest) => void): () => void {
    const followers = this.#followers.get(workerId) ?? new Set()
    followers.add(listener)
    this.#followers.set(workerId, followers)
    return () => {
      followers.delete(listener)
      if (followers.size === 0 && this.#followers.get(workerId) === followers) this.#followers.delete(workerId)
    }
  }

  /**
   * The last `tailLines` lines of a replica's output; null when its worker is not connected or does not answer within 5
   * seconds.
   */
  async request(workerId: WorkerId, replica: ReplicaId, tailLines: number): Promise<LogText | null> {
    const followers = this.#followers.get(workerId)
    if (followers === undefined && this.#relay === null) return null
    const id = this.#relay?.newRequestId() ?? this.#newId()
    return new Promise((resolve) => {
      const timeout = setTimeout(() => this.#answerWaiting(id, null), answerWithinMillis)
      this.#waiting.set(id, {
        workerId,
        answered: (text) => {
          clearTimeout(timeout)
          resolve(text)
        },
      })
      const request = { id, replica, tailLines }
      for (const listener of followers ?? []) listener(request)
      // The other servers are asked even when somebody follows here: the worker may have moved on while its old socket
      // has not noticed.
      this.#relay?.ask(workerId, request)
    })
  }

  /**
   * Takes a worker's answer, here or for the server that asked: the worker may have changed servers meanwhile. Returns
   * false when it is known here that nobody waits for it any more, or that another worker has to give it.
   */
  answer(workerId: WorkerId, id: string, text: LogText): boolean {
    if (this.#waiting.get(id)?.workerId !== workerId) return this.#relay?.answer(workerId, id, text) ?? false
    this.#answerWaiting(id, text)
    return true
  }

  /** The server stops: everyone who waits gets null. */
  async stop(): Promise<void> {
    for (const id of [...this.#waiting.keys()]) this.#answerWaiting(id, null)
    await this.#relay?.stop()
  }

  #takeRelayed({ id, replica, tailLines, workerId }: RelayedRequest): void {
    for (const listener of this.#followers.get(workerId) ?? []) listener({ id, replica, tailLines })
  }

  #answerWaiting(id: string, text: LogText | null): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    this.#relay?.forget(id)
    waiting?.answered(text)
  }
}
