import type { SharedFrame } from './frameSink.ts'

/** A subscriber for whom frames wait. */
export interface Holder {
  readonly waitingBytes: number
  /** Gives up what waits for one SNAPSHOT. */
  collapse(): void
}

/** A connection that takes nothing at the moment. */
export interface FullStream {
  readonly waitingBytes: number
  /** Closes it, and says that its reader is too slow. */
  closeSlow(): void
}

interface Stuck {
  bytes: number
  /** When it last took something. */
  since: number
}

/** A connection that took nothing for so long is closed when the budget is used up. Others may be large, but they get along. */
const stuckMillis = 5_000
const sweepMillis = 1_000
/** Collapsing goes on until so much of the budget is used, so that not every frame begins it again. */
const relaxedShare = 0.75

/**
 * All bytes that wait for slow readers of one server: frames, each counted once however many wait for it, and what is written and not yet
 * taken. When there are more than the budget, subscribers collapse, those with the most first; if that is not enough, connections that take
 * nothing are closed.
 */
export class WaitingBytes {
  readonly #budget: number
  readonly #onClosed: () => void
  readonly #frames = new Map<SharedFrame, number>()
  readonly #holders = new Set<Holder>()
  readonly #streams = new Map<FullStream, Stuck>()
  #frameBytes = 0
  #streamBytes = 0
  #sweep: NodeJS.Timeout | null = null

  constructor(budget: number, onClosed: () => void) {
    this.#budget = budget
    this.#onClosed = onClosed
  }

  get bytes(): number {
    return this.#frameBytes + this.#streamBytes
  }

  /** Whether somebody waits for this frame. */
  holds(frame: SharedFrame): boolean {
    return this.#frames.has(frame)
  }

  hold(frame: SharedFrame, holder: Holder): void {
    const holders = this.#frames.get(frame) ?? 0
    this.#frames.set(frame, holders + 1)
    if (holders === 0) this.#frameBytes += frame.size
    this.#holders.add(holder)
    this.#keepBudget()
  }

  /** The same holder no longer waits for this frame. */
  release(frame: SharedFrame, holder: Holder): void {
    const holders = this.#frames.get(frame)
    if (holders === undefined) return
    if (holders > 1) this.#frames.set(frame, holders - 1)
    else {
      this.#frames.delete(frame)
      this.#frameBytes -= frame.size
    }
    if (holder.waitingBytes === 0) this.#holders.delete(holder)
  }

  /** Must be called when a connection takes no more, after each write that finds it so. */
  full(stream: FullStream): void {
    const bytes = stream.waitingBytes
    const known = this.#streams.get(stream)
    this.#streamBytes += bytes - (known?.bytes ?? 0)
    if (known === undefined) this.#streams.set(stream, { bytes, since: performance.now() })
    else known.bytes = bytes
    this.#keepBudget()
  }

  /** Must be called when the connection takes more again, and when it is closed. */
  drained(stream: FullStream): void {
    this.#streamBytes -= this.#streams.get(stream)?.bytes ?? 0
    this.#streams.delete(stream)
    if (this.#streams.size === 0) this.#stopSweeping()
  }

  #keepBudget(): void {
    if (this.bytes <= this.#budget) return
    const relaxed = this.#budget * relaxedShare
    for (const holder of [...this.#holders].sort((a, b) => b.waitingBytes - a.waitingBytes)) {
      if (this.bytes <= relaxed) return
      holder.collapse()
    }
    if (this.bytes > this.#budget) this.#sweep ??= setInterval(() => this.#closeStuck(), sweepMillis).unref()
  }

  #closeStuck(): void {
    const now = performance.now()
    for (const [stream, stuck] of this.#streams) {
      const bytes = stream.waitingBytes
      if (bytes < stuck.bytes) stuck.since = now
      this.#streamBytes += bytes - stuck.bytes
      stuck.bytes = bytes
    }
    const stuck = [...this.#streams].filter(([, { since }]) => now - since >= stuckMillis)
    for (const [stream] of stuck.sort(([, a], [, b]) => b.bytes - a.bytes)) {
      if (this.bytes <= this.#budget) break
      this.drained(stream)
      this.#onClosed()
      stream.closeSlow()
    }
    if (this.bytes <= this.#budget) this.#stopSweeping()
  }

  #stopSweeping(): void {
    if (this.#sweep !== null) clearInterval(this.#sweep)
    this.#sweep = null
  }
}
