import type { ReplicaId, WorkerId } from '../../model/id.ts'
import type { LogRelay, RelayedRequest } from './logRelay.ts'
import type { LogRequest, LogText } from './logText.ts'

interface Waiting {
  readonly workerId: WorkerId
  readonly answered: (text: LogText | null) => void
}

/** How long a reader of a log waits for the worker. */
const answerWithinMillis = 5_000

/**
 * Passes requests for logs to the workers whose assignments are followed on this server or, by the relay, on another, and their answers back. Nothing
 * of it is stored and none of it is a fact.
 */
export class LogRequests {
  readonly #newId: () => string
  readonly #followers = new Map<WorkerId, Set<(request: LogRequest) => void>>()
  readonly #waiting = new Map<string, Waiting>()
  /** Asked by other servers: any server may be told the answer, because a worker changes servers. In the order of their ends. */
  readonly #relayed = new Map<string, { readonly request: RelayedRequest; readonly until: number }>()
  readonly #relay: LogRelay | null

  /** `relay`: to the other servers; null: there are none. */
  constructor(newId: () => string, relay: LogRelay | null = null) {
    this.#newId = newId
    this.#relay = relay
  }

  async start(): Promise<void> {
    await this.#relay?.start({
      onRequest: (request) => this.#take(request),
      onAnswer: (id, text) => this.#finish(id, text),
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

  /** The last `tailLines` lines of a replica's output; null when its worker is not connected or does not answer within 5 seconds. */
  async request(workerId: WorkerId, replica: ReplicaId, tailLines: number): Promise<LogText | null> {
    const followers = this.#followers.get(workerId)
    if (followers === undefined && this.#relay === null) return null
    const id = this.#newId()
    return new Promise((resolve) => {
      const timeout = setTimeout(() => this.#finish(id, null), answerWithinMillis)
      this.#waiting.set(id, {
        workerId,
        answered: (text) => {
          clearTimeout(timeout)
          resolve(text)
        },
      })
      const request = { id, replica, tailLines }
      for (const listener of followers ?? []) listener(request)
      // Also where somebody follows here: the worker may be elsewhere already, and its old socket not have noticed.
      this.#relay?.ask(workerId, request)
    })
  }

  /** A worker's answer. False: nobody waits for it any more, or it is another worker's to give. */
  answer(workerId: WorkerId, id: string, text: LogText): boolean {
    if (this.#waiting.get(id)?.workerId === workerId) {
      this.#finish(id, text)
      return true
    }
    const asked = this.#relayed.get(id)
    if (asked?.request.workerId !== workerId || asked.until < performance.now()) return false
    this.#relayed.delete(id)
    this.#relay?.answer(asked.request, text)
    return true
  }

  /** Answers everyone who waits with null: the server stops. */
  async stop(): Promise<void> {
    for (const id of [...this.#waiting.keys()]) this.#finish(id, null)
    await this.#relay?.stop()
  }

  #take(request: RelayedRequest): void {
    const now = performance.now()
    for (const [id, { until }] of this.#relayed) {
      if (until >= now) break
      this.#relayed.delete(id)
    }
    const { id, replica, tailLines, workerId } = request
    this.#relayed.set(id, { request, until: now + answerWithinMillis })
    for (const listener of this.#followers.get(workerId) ?? []) listener({ id, replica, tailLines })
  }

  #finish(id: string, text: LogText | null): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    this.#relay?.forget(id)
    waiting?.answered(text)
  }
}
