import type { Logger } from 'pino'
import type { CommittedFact } from '../model/fact.ts'
import type { Revision } from '../model/id.ts'
import type { Committer } from '../store/commit/committer.ts'
import type { Database } from '../store/database/database.ts'
import { readFacts } from '../store/read/readFacts.ts'

export interface TailOptions {
  readonly database: Database
  readonly committer: Committer
  readonly log: Logger
  /** Called when tokens were changed or removed, and awaited before later facts are handed out, so that no revoked token sees them. */
  readonly onTokensChanged?: () => Promise<void>
}

type Listener = (facts: readonly CommittedFact[]) => void

interface Subscriber {
  readonly listener: Listener
  readonly onLost: () => void
}

const mostFacts = 1_000
const longestWaitMillis = 2_000

/**
 * Follows the fact log from where it is at the start: every fact once, in order. Woken by this server's own commits and by NOTIFY of all
 * servers; a wake-up says only that there may be more, so a lost one costs nothing that the next does not bring.
 */
export class Tail {
  readonly #database: Database
  readonly #committer: Committer
  readonly #log: Logger
  readonly #onTokensChanged: () => Promise<void>
  readonly #subscribers = new Set<Subscriber>()
  readonly #leave: (() => void | Promise<void>)[] = []
  #head: Revision = 0n
  #tokenChanges = 0
  #reading: Promise<void> | null = null
  #isMore = false
  #isLive = false
  #isStarted = false
  #isStopped = false
  #retry: { timer: NodeJS.Timeout; go: () => void } | null = null

  constructor({ database, committer, log, onTokensChanged }: TailOptions) {
    this.#database = database
    this.#committer = committer
    this.#log = log
    this.#onTokensChanged = onTokensChanged ?? (async () => undefined)
  }

  /** All subscribers have had the facts up to this revision. */
  get head(): Revision {
    return this.#head
  }

  /** True while facts come as they are committed: false before the start and while the database does not answer. */
  get live(): boolean {
    return this.#isLive
  }

  async start(): Promise<void> {
    const wakeTo = (head: Revision) => {
      if (head > this.#head) this.#wakeReader()
    }
    const onMessage = (payload: string) => (/^\d+$/.test(payload) ? wakeTo(BigInt(payload)) : this.#wakeReader())
    this.#leave.push(await this.#database.listen('facts', onMessage, () => this.#wakeReader()))
    // Read after LISTEN: what comes in between is notified.
    const { head, tokenChanges } = await readFacts(this.#database, null, 0)
    this.#head = head
    this.#tokenChanges = tokenChanges
    this.#leave.push(this.#committer.onCommitted(wakeTo))
    this.#isLive = true
    this.#isStarted = true
    this.#wakeReader()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isLive = false
    for (const leave of this.#leave.splice(0)) await leave()
    if (this.#retry) {
      clearTimeout(this.#retry.timer)
      this.#retry.go()
    }
    await this.#reading
  }

  /** `onLost` is called when facts were trimmed before this server read them: what was built from facts must be read again. */
  subscribe(listener: Listener, onLost: () => void = () => undefined): () => void {
    const subscriber = { listener, onLost }
    this.#subscribers.add(subscriber)
    return () => this.#subscribers.delete(subscriber)
  }

  #wakeReader(): void {
    // Before the start nobody knows where to read from; it ends with a look at all that came meanwhile.
    if (!this.#isStarted || this.#isStopped) return
    this.#isMore = true
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = null
      // Woken between the last look of that reading and now: PGlite answers in microtasks, so there is such a moment.
      if (this.#isMore) this.#wakeReader()
    })
  }

  async #readOn(): Promise<void> {
    let failures = 0
    while (this.#isMore && !this.#isStopped) {
      this.#isMore = false
      try {
        const page = await readFacts(this.#database, this.#head, mostFacts)
        if (page.tokenChanges !== this.#tokenChanges) {
          await this.#onTokensChanged()
          this.#tokenChanges = page.tokenChanges
        }
        if (page.floor > this.#head || page.head < this.#head)
          this.#skipLostFacts(page.floor > this.#head ? page.floor : page.head)
        else this.#deliverFacts(page.facts)
        if (this.#head < page.head) this.#isMore = true
        this.#isLive = !this.#isStopped
        failures = 0
      } catch (error) {
        failures++
        this.#isMore = true
        this.#isLive = false
        this.#log.warn({ err: error }, 'The fact log could not be read; trying again.')
        await this.#waitToRetry(Math.min(longestWaitMillis, 20 * 2 ** failures))
      }
    }
  }

  #deliverFacts(facts: readonly CommittedFact[]): void {
    for (const [index, { revision, serviceId }] of facts.entries()) {
      const expected = this.#head + 1n + BigInt(index)
      if (revision !== expected) throw new Error(`The fact log has revision ${revision} where ${expected} must be.`)
      if (serviceId !== null) this.#committer.cache.dropOlder(serviceId, revision)
    }
    const last = facts.at(-1)
    if (!last) return
    this.#head = last.revision
    for (const { listener } of this.#subscribers) this.#callListener(() => listener(facts))
  }

  #skipLostFacts(head: Revision): void {
    this.#log.warn(
      { from: this.#head.toString(), to: head.toString() },
      'Facts were trimmed, or a backup restored, while this server did not follow.',
    )
    this.#head = head
    this.#committer.cache.clear()
    for (const { onLost } of this.#subscribers) this.#callListener(onLost)
  }

  /** A listener's mistake must not stop the others, nor make them hear a fact twice. */
  #callListener(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#log.error({ err: error }, 'A listener of the fact log failed.')
    }
  }

  #waitToRetry(millis: number): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        this.#retry = null
        resolve()
      }
      this.#retry = { timer: setTimeout(go, millis), go }
    })
  }
}
