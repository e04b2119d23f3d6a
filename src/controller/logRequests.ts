import type { HostId, ReplicaId } from '../model/id.ts'

/** The last lines of a replica's output. `truncated`: there was more than was asked for or kept. */
export interface LogText {
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  readonly truncated: boolean
}

/** What a worker is asked for. `id` is named in its answer. */
export interface LogRequest {
  readonly id: string
  readonly replica: ReplicaId
  readonly tailLines: number
}

interface Waiting {
  readonly hostId: HostId
  readonly answered: (text: LogText | null) => void
}

/** How long a reader of a log waits for the worker. */
const answerWithinMillis = 5_000

/**
 * Passes requests for logs to the workers whose assignments are followed on this server, and their answers back. Nothing of it is stored and
 * none of it is a fact.
 */
export class LogRequests {
  readonly #newId: () => string
  readonly #followers = new Map<HostId, Set<(request: LogRequest) => void>>()
  readonly #waiting = new Map<string, Waiting>()

  constructor(newId: () => string) {
    this.#newId = newId
  }

  /** Hands the requests for logs of a host's replicas to `listener`, until the returned function is called. */
  follow(hostId: HostId, listener: (request: LogRequest) => void): () => void {
    const followers = this.#followers.get(hostId) ?? new Set()
    followers.add(listener)
    this.#followers.set(hostId, followers)
    return () => {
      followers.delete(listener)
      if (followers.size === 0 && this.#followers.get(hostId) === followers) this.#followers.delete(hostId)
    }
  }

  /** The last `tailLines` lines of a replica's output; null when its worker is not connected or does not answer within 5 seconds. */
  async request(hostId: HostId, replica: ReplicaId, tailLines: number): Promise<LogText | null> {
    const followers = this.#followers.get(hostId)
    if (followers === undefined) return null
    const id = this.#newId()
    return new Promise((resolve) => {
      const timeout = setTimeout(() => this.#finish(id, null), answerWithinMillis)
      this.#waiting.set(id, {
        hostId,
        answered: (text) => {
          clearTimeout(timeout)
          resolve(text)
        },
      })
      for (const listener of followers) listener({ id, replica, tailLines })
    })
  }

  /** A worker's answer. False: nobody waits for it any more, or it is another host's to give. */
  answer(hostId: HostId, id: string, text: LogText): boolean {
    if (this.#waiting.get(id)?.hostId !== hostId) return false
    this.#finish(id, text)
    return true
  }

  /** Answers everyone who waits with null: the server stops. */
  stop(): void {
    for (const id of [...this.#waiting.keys()]) this.#finish(id, null)
  }

  #finish(id: string, text: LogText | null): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.answered(text)
  }
}
