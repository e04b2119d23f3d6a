import type { ContactFile } from '../files/contactFile.ts'
import { bootSeconds } from '../machine/bootClock.ts'

/** So long a worker that starts tries to reach a server, however long it was away. */
const firstTrySeconds = 5

/** The last contact is written at most so often; where patience is short, as much oftener as it takes to be right to a twentieth of it. */
const writtenEverySeconds = 3

/**
 * Watches for how long no server has taken this worker's renewals, on the machine's own clock. When that is longer than lease and grace, it is
 * LOST to the servers, or will be (R15): `onLost` is called once per silence, and again only after contact in between. A restart of the worker does
 * not end a silence: it goes on from what the file says, with the patience that the servers had asked for, but for a few seconds to reach one.
 */
export class LostContact {
  readonly #file: ContactFile
  readonly #onLost: () => void
  readonly #now: () => number
  #lastSeconds: number
  #patienceSeconds: number
  #written: { readonly lastSeconds: number; readonly patienceSeconds: number } | null = null
  #timer: NodeJS.Timeout | undefined

  /** `patienceSeconds`: until a server has said what its lease and grace are, to this worker or to an earlier one. */
  constructor(file: ContactFile, patienceSeconds: number, onLost: () => void, now: () => number = bootSeconds) {
    this.#file = file
    this.#onLost = onLost
    this.#now = now
    const known = file.read()
    this.#patienceSeconds = known?.patienceSeconds ?? patienceSeconds
    // Some containers begin to count anew at each start of theirs: what lies ahead is taken as now.
    const lastSeconds = Math.min(known?.lastSeconds ?? now(), now())
    // The servers may have been away as well, and count no lease of that time: they are asked first.
    this.#lastSeconds = Math.max(
      lastSeconds,
      now() - this.#patienceSeconds + Math.min(firstTrySeconds, this.#patienceSeconds),
    )
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
    this.#write()
    this.#arm()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #write(): void {
    const [lastSeconds, patienceSeconds] = [this.#lastSeconds, this.#patienceSeconds]
    const every = Math.min(writtenEverySeconds, patienceSeconds / 20)
    const written = this.#written
    if (written?.patienceSeconds === patienceSeconds && lastSeconds < written.lastSeconds + every) return
    this.#file.write(lastSeconds, patienceSeconds)
    this.#written = { lastSeconds, patienceSeconds }
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
