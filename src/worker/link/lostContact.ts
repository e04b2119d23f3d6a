import type { ContactFile } from '../files/contactFile.ts'
import { bootSeconds } from '../machine/bootClock.ts'

/** A worker that starts gets this time to reach a server, however long it was away. */
const firstTrySeconds = 5

/** The last contact is written at most this often; where lease and grace are short, every twentieth of their sum. */
const writtenEverySeconds = 3

/**
 * Watches for how long no server has accepted this worker's renewals, on the machine's own clock. After lease and grace
 * the servers take the worker for LOST, or will (R15), so `onLost` is called: once per silence, and again only after
 * contact in between. A restart of the worker does not end a silence. The new worker reads the last contact and the
 * servers' lease and grace from the file, and gets a few seconds to reach a server.
 */
export class LostContact {
  readonly #file: ContactFile
  readonly #onLost: () => void
  readonly #now: () => number
  #lastSeconds: number
  #patienceSeconds: number
  #written: { readonly lastSeconds: number; readonly patienceSeconds: number } | null = null
  #timer: NodeJS.Timeout | undefined

  /** `patienceSeconds` counts until a server has sent its lease and grace to this worker or to an earlier one. */
  constructor(file: ContactFile, patienceSeconds: number, onLost: () => void, now: () => number = bootSeconds) {
    this.#file = file
    this.#onLost = onLost
    this.#now = now
    const known = file.read()
    this.#patienceSeconds = known?.patienceSeconds ?? patienceSeconds
    // The clock of some containers starts again with the container, so an instant in the future counts as now.
    const lastSeconds = Math.min(known?.lastSeconds ?? now(), now())
    // The servers may have been away as well and count no lease for that time, so the worker tries to reach them first.
    this.#lastSeconds = Math.max(
      lastSeconds,
      now() - this.#patienceSeconds + Math.min(firstTrySeconds, this.#patienceSeconds),
    )
    this.#setTimer()
  }

  /** The instant to pass to `heard` once the server has answered; the server counts from the request's arrival, which is later. */
  mark(): number {
    return this.#now()
  }

  /** Notes that a server has answered the request that was sent at `sentSeconds`. */
  heard(sentSeconds: number, patienceSeconds = this.#patienceSeconds): void {
    this.#lastSeconds = Math.max(this.#lastSeconds, sentSeconds)
    this.#patienceSeconds = patienceSeconds
    this.#saveContact()
    this.#setTimer()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #saveContact(): void {
    const [lastSeconds, patienceSeconds] = [this.#lastSeconds, this.#patienceSeconds]
    const every = Math.min(writtenEverySeconds, patienceSeconds / 20)
    const written = this.#written
    if (written?.patienceSeconds === patienceSeconds && lastSeconds < written.lastSeconds + every) return
    this.#file.write(lastSeconds, patienceSeconds)
    this.#written = { lastSeconds, patienceSeconds }
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    const left = this.#lastSeconds + this.#patienceSeconds - this.#now()
    this.#timer = setTimeout(() => this.#onTimer(), Math.max(left, 0) * 1_000)
    this.#timer.unref()
  }

  #onTimer(): void {
    // A timer may be a little early, and late after a sleep of the machine.
    if (this.#lastSeconds + this.#patienceSeconds > this.#now()) this.#setTimer()
    else this.#onLost()
  }
}
