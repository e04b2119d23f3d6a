import type { FeedCounts } from './feedCounts.ts'
import type { FrameSink, SharedFrame } from './frameSink.ts'
import type { Holder, WaitingBytes } from './waitingBytes.ts'

/** At most so many frames wait for one subscriber, of so many bytes (4 MiB). When there are more, they are given up for one SNAPSHOT (R16). */
export const mostPending = 256
export const mostBytesPending = 4_194_304

/** The parts of the frame that a member gets before it gets the group's frames. */
interface CatchUpParts<Made> {
  count(): Promise<number>
  part(index: number): Promise<Made>
}

/** A member needs only this of its group. */
export interface MemberGroup<Made extends SharedFrame> {
  readonly counts: FeedCounts
  readonly waiting: WaitingBytes
  /** The member fell behind and can take frames again, so the group gives it a SNAPSHOT. */
  rejoin(member: Member<Made>): void
  left(member: Member<Made>): void
}

/**
 * One subscriber in a group. Frames go to its sink at once while that takes them, otherwise they wait here as bytes; they are shared with the
 * other members, so that waiting costs a reference each.
 *
 * States: joining (its catch-up frame is not known yet) → catching up (the frame is sent in parts, later frames wait behind it) → following →
 * fallen behind (too many waited; they are dropped) → joining again, once the sink takes frames → … → ended.
 */
export class Member<Made extends SharedFrame> implements Holder {
  readonly #group: MemberGroup<Made>
  readonly #sink: FrameSink<Made>
  #queue: Made[] = []
  /** The part of the catch-up frame that the sink could not take yet. */
  #part: Made | null = null
  #waitingBytes = 0
  #state: 'joining' | 'catchingUp' | 'following' | 'fallenBehind' | 'ended' = 'joining'
  /** True once the last frame is in the queue. */
  #isFinishing = false
  #began = false
  /** True when it fell behind while it was still catching up. */
  #isBehindCatchUp = false
  #resumeCatchUp: (() => void) | null = null
  readonly #pump = () => this.pump()

  constructor(group: MemberGroup<Made>, sink: FrameSink<Made>) {
    this.#group = group
    this.#sink = sink
  }

  get ended(): boolean {
    return this.#state === 'ended'
  }

  /** Whether it has had a frame. */
  get began(): boolean {
    return this.#began
  }

  /** From here on it gets the group's frames; `catchUp` comes before them. */
  admit(catchUp: CatchUpParts<Made> | null): void {
    if (this.#state !== 'joining') return
    this.#state = catchUp === null ? 'following' : 'catchingUp'
    if (catchUp === null) this.pump()
    else void this.#sendCatchUp(catchUp)
  }

  /** Sends the next frame of the group, or lets it wait. */
  push(made: Made): void {
    if (this.#state === 'following' && this.#queue.length === 0 && this.#sink.ready) {
      this.#sendFrame(made)
      return
    }
    if (this.#state !== 'following' && this.#state !== 'catchingUp') return
    if (!this.#isBehindCatchUp) {
      if (this.#queue.length >= mostPending || this.#waitingBytes + made.size > mostBytesPending) this.collapse()
      else this.#enqueue(made)
    }
    this.#sink.whenReady(this.#pump)
  }

  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Gives up what waits, because it is too much. */
  collapse(): void {
    this.#group.counts.collapsed++
    this.#fallBehind()
  }

  /** Makes the member begin again with a SNAPSHOT, because not all changes since its last frame are known. */
  restart(): void {
    this.#fallBehind()
    this.pump()
  }

  /** Sends the group's last frame. A member that fell behind needs nothing before it. */
  finish(made: Made): void {
    if (this.ended) return
    if (this.#state === 'fallenBehind' || this.#state === 'joining') this.#state = 'following'
    this.#isBehindCatchUp = false
    this.#isFinishing = true
    this.#enqueue(made)
    this.pump()
  }

  /** Sends what waits, as far as the sink takes it. */
  pump(): void {
    if (this.#state === 'catchingUp') {
      this.#resumeCatchUp?.()
      return
    }
    while (this.#state === 'following' && this.#sink.ready) {
      const made = this.#queue.shift()
      if (made === undefined) break
      this.#stopHolding(made)
      this.#sendFrame(made)
    }
    if (this.#state === 'following' && this.#queue.length === 0 && this.#isFinishing) this.end(null)
    else if (this.#state === 'following' && this.#queue.length > 0) this.#sink.whenReady(this.#pump)
    else if (this.#state === 'fallenBehind') this.#rejoinGroup()
  }

  /** Ends the subscription and drops whatever waits. `error` is null when the last frame said why. */
  end(error: unknown): void {
    if (this.#leaveGroup()) this.#sink.end(error)
  }

  /** Lets go of a subscriber that went away. */
  close(): void {
    this.#leaveGroup()
  }

  #leaveGroup(): boolean {
    if (this.ended) return false
    this.#state = 'ended'
    this.#dropWaiting()
    this.#resumeCatchUp?.()
    this.#group.left(this)
    return true
  }

  #enqueue(made: Made): void {
    this.#queue.push(made)
    this.#startHolding(made)
  }

  #startHolding(made: Made): void {
    this.#waitingBytes += made.size
    this.#group.waiting.hold(made, this)
  }

  #stopHolding(made: Made): void {
    this.#waitingBytes -= made.size
    this.#group.waiting.release(made, this)
  }

  #dropWaiting(): void {
    const waiting = this.#part === null ? this.#queue : [this.#part, ...this.#queue]
    this.#queue = []
    this.#part = null
    for (const made of waiting) this.#stopHolding(made)
  }

  #fallBehind(): void {
    if (this.#isFinishing) return
    this.#dropWaiting()
    if (this.#state === 'following') this.#state = 'fallenBehind'
    else if (this.#state === 'catchingUp') this.#isBehindCatchUp = true
  }

  #rejoinGroup(): void {
    if (!this.#sink.ready) {
      this.#sink.whenReady(this.#pump)
      return
    }
    this.#state = 'joining'
    this.#group.rejoin(this)
  }

  async #sendCatchUp(catchUp: CatchUpParts<Made>): Promise<void> {
    try {
      const count = await catchUp.count()
      for (let index = 0; index < count && !this.ended; index++) await this.#sendPart(catchUp, index)
    } catch (error) {
      this.end(error)
      return
    }
    if (this.ended) return
    this.#state = this.#isBehindCatchUp ? 'fallenBehind' : 'following'
    this.#isBehindCatchUp = false
    this.pump()
  }

  /** The first part is made for all at once and waits here while the sink takes nothing. A later one, or one given up, is made when it does. */
  async #sendPart(catchUp: CatchUpParts<Made>, index: number): Promise<void> {
    for (let isFirst = index === 0; !this.ended; isFirst = false) {
      if (!isFirst) await this.#untilSinkReady()
      if (this.ended || this.#sendOrHold(await catchUp.part(index))) return
      await this.#untilSinkReady()
      if (this.#sendHeld()) return
    }
  }

  #sendOrHold(made: Made): boolean {
    if (this.ended) return true
    if (this.#sink.ready) {
      this.#sendFrame(made)
      return true
    }
    this.#part = made
    this.#startHolding(made)
    made.keepBytes()
    return false
  }

  /** False: it was given up meanwhile. */
  #sendHeld(): boolean {
    const made = this.#part
    if (made === null) return false
    this.#part = null
    this.#stopHolding(made)
    this.#sendFrame(made)
    return true
  }

  async #untilSinkReady(): Promise<void> {
    while (!this.ended && !this.#sink.ready) {
      await new Promise<void>((resolve) => {
        this.#resumeCatchUp = resolve
        this.#sink.whenReady(this.#pump)
      })
      this.#resumeCatchUp = null
    }
  }

  #sendFrame(made: Made): void {
    this.#began = true
    this.#group.counts.delivered++
    this.#sink.send(made)
  }
}
