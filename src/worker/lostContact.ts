import { bootSeconds } from './bootClock.ts'

/**
 * Watches for how long no server has taken this worker's renewals, on the machine's own clock. When that is longer than lease and grace, it is
 * LOST to the servers, or will be: `onLost` is called once per silence, and again only after contact in between.
 */
export class LostContact {
  readonly #onLost: () => void
  readonly #now: () => number
  #lastSeconds: number
  #patienceSeconds: number
  #timer: NodeJS.Timeout | undefined

  /** `patienceSeconds`: until a server has said what its lease and grace are. */
  constructor(patienceSeconds: number, onLost: () => void, now: () => number = bootSeconds) {
    this.#onLost = onLost
    this.#now = now
    this.#patienceSeconds = patienceSeconds
    this.#lastSeconds = now()
    this.#arm()
  }

  /** The instant to pass to `heard` when the answer has come: a server counts from when it took the request, which is later. */
  mark(): number {
    return this.#now()
  }

  /** A server has answered what was sent at `sentSeconds`. */
  heard(sentSeconds: number, patienceSeconds = this.#patienceSeconds): void {
    this.#lastSeconds = Math.max(this.#lastSeconds, sentSeconds)
    this.#patienceSeconds = patienceSeconds
    this.#arm()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const left = this.#lastSeconds + this.#patienceSeconds - this.#now()
    this.#timer = setTimeout(() => this.#onTimer(), Math.max(left, 0) * 1_000)
    this.#timer.unref()
  }

  #onTimer(): void {
    // A timer may be early by a little, and late by a sleep of the machine.
    if (this.#lastSeconds + this.#patienceSeconds > this.#now()) this.#arm()
    else this.#onLost()
  }
}
