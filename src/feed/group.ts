import { setImmediate as otherWork } from 'node:timers/promises'
import type { Revision } from '../model/id.ts'
import { CatchUp } from './catchUp.ts'
import type { Entry } from './changeLog.ts'
import type { FeedCounts } from './feedCounts.ts'
import { FeedRefusal, serviceGone } from './feedRefusal.ts'
import type { Follower, OpenFollower, Recalled } from './follower.ts'
import type { FrameSink, SharedFrame } from './frameSink.ts'
import { Member, type MemberGroup } from './member.ts'
import { untilDatabaseAnswers } from './untilDatabaseAnswers.ts'
import type { WaitingBytes } from './waitingBytes.ts'

/** A group needs only this of the feed. */
interface GroupFeed {
  readonly counts: FeedCounts
  readonly waiting: WaitingBytes
  /** A group is silent for this long before its members get a BOOKMARK, if they asked for it. */
  readonly bookmarkMillis: number
  /** Resolves when every fact up to `revision` is in the topics. */
  reach(revision: Revision): Promise<void>
}

export interface GroupOptions<Frame, Change, Made extends SharedFrame> {
  readonly feed: GroupFeed
  /** Whether its members get BOOKMARKs. */
  readonly bookmarks: boolean
  readonly open: OpenFollower<Frame, Change>
  /** Makes a frame for all members alike. A failure ends those that it was for, but for the database's trouble, which is waited out. */
  readonly make: (frame: Frame) => Promise<Made>
  /** Called once, when nobody is in the group any more and nobody may join it. */
  readonly onEnd: () => void
}

interface Joiner<Change, Made extends SharedFrame> {
  readonly member: Member<Made>
  /** Null: a SNAPSHOT. */
  readonly after: Revision | null
  readonly recalled: Recalled<Change> | null
}

/** So many members are handed a frame before other work gets a turn. */
const membersPerTurn = 256
/** At most so many catch-up frames are made at a time. Subscribers who join meanwhile share the next. */
const catchUpsAtOnce = 4

/**
 * All subscribers who get the same frames. A frame is made once for all of them, however many they are. The group goes on step by step: in
 * one instant a step takes what changed since the last one and admits those who wait to join, at that very position; then it makes the frame
 * and hands it out. Changes that come meanwhile are the next step's, as one frame. While the database does not answer, the step waits.
 */
export class Group<Frame, Change, Made extends SharedFrame> implements MemberGroup<Made> {
  readonly counts: FeedCounts
  readonly waiting: WaitingBytes
  readonly #options: GroupOptions<Frame, Change, Made>
  #follower: Follower<Frame, Change>
  readonly #begun: Promise<void>
  /** Everybody who joined and has not left, in whatever state. */
  readonly #attached = new Set<Member<Made>>()
  readonly #members = new Set<Member<Made>>()
  #joining: Joiner<Change, Made>[] = []
  #cursor: Revision | null = null
  #catchUps = 0
  #isStale = false
  #isIdle = false
  #isRunning = false
  #isEnded = false
  readonly #bookmark: NodeJS.Timeout | null
  readonly #closing = new AbortController()

  constructor(options: GroupOptions<Frame, Change, Made>) {
    this.#options = options
    this.counts = options.feed.counts
    this.waiting = options.feed.waiting
    this.counts.groups++
    this.#follower = options.open(() => this.#requestStep())
    this.#begun = this.#untilDatabaseAnswers(() => this.#follower.begin())
    this.#begun.catch(() => undefined)
    this.#bookmark = options.bookmarks ? setInterval(() => this.#becomeIdle(), options.feed.bookmarkMillis) : null
  }

  get ended(): boolean {
    return this.#isEnded
  }

  /** Adds a subscriber. `after`: the last revision that it has; null: none. */
  join(sink: FrameSink<Made>, after: Revision | null): Member<Made> {
    const member = new Member<Made>(this, sink)
    this.#attached.add(member)
    this.counts.subscribers++
    void this.#prepareJoiner(member, after)
    return member
  }

  rejoin(member: Member<Made>): void {
    this.#members.delete(member)
    this.#joining.push({ member, after: null, recalled: null })
    this.#requestStep()
  }

  left(member: Member<Made>): void {
    if (!this.#attached.delete(member)) return
    this.counts.subscribers--
    this.#members.delete(member)
    if (this.#attached.size === 0) this.#closeFollower()
  }

  /** Finds out what the subscriber missed. This may need the database, so the group does not wait for it. */
  async #prepareJoiner(member: Member<Made>, after: Revision | null): Promise<void> {
    try {
      await this.#begun
      let recalled: Recalled<Change> | null = null
      let from = after
      if (from !== null && (from > this.#follower.revision || !this.#follower.remembers(from))) {
        recalled = await this.#recallChanges(from)
        if (recalled === null) from = null
      }
      if (member.ended) return
      if (this.#isEnded) throw new FeedRefusal(serviceGone)
      this.#joining.push({ member, after: from, recalled })
      this.#requestStep()
    } catch (error) {
      member.end(error)
    }
  }

  #becomeIdle(): void {
    this.#isIdle = true
    this.#requestStep()
  }

  #requestStep(): void {
    this.#isStale = true
    if (this.#isRunning || this.#isEnded) return
    this.#isRunning = true
    void this.#runSteps()
  }

  async #runSteps(): Promise<void> {
    // Wake-ups come while facts are still being handed out.
    await null
    try {
      await this.#begun
      while (this.#isStale && !this.#isEnded) {
        this.#isStale = false
        await this.#takeStep()
      }
    } catch (error) {
      for (const member of [...this.#attached]) member.end(error)
    } finally {
      this.#isRunning = false
    }
  }

  async #takeStep(): Promise<void> {
    if (this.#follower.lost) await this.#reopenFollower()
    const recalled = await this.#recallForgotten()
    // One instant from here …
    const { revision, goneAt } = this.#follower
    const members = [...this.#members]
    if (goneAt !== null) return this.#finishMembers(goneAt)
    const frames = members.length > 0 && this.#cursor !== null ? this.#nextFrames(this.#cursor, recalled) : []
    this.#cursor = revision
    this.#admitJoiners()
    // … to here.
    for (const frame of frames) {
      for (const part of await this.#expandFrame(frame)) {
        this.counts.groupFrames++
        await this.#handOutFrame(await this.#makePart(part), members)
      }
    }
  }

  /** Makes the frames that the members get now. */
  #nextFrames(cursor: Revision, recalled: Recalled<Change> | null): readonly Frame[] {
    const changes = this.#changesSince(cursor, recalled)
    if (changes === null) {
      for (const member of [...this.#members]) member.restart()
      return []
    }
    const { revision } = this.#follower
    const delta = changes.length === 0 ? null : this.#follower.delta(cursor, changes)
    const frames = [delta, this.#follower.aside?.(revision) ?? null].filter((frame) => frame !== null)
    if (frames.length > 0 || !this.#isIdle) return frames
    this.#isIdle = false
    return [this.#follower.bookmark(revision)]
  }

  /** The changes in (cursor, now], from memory and from what was recalled. Null when they are not all known. */
  #changesSince(cursor: Revision, recalled: Recalled<Change> | null): readonly Entry<Change>[] | null {
    if (recalled === null) return this.#follower.since(cursor)
    const rest = this.#follower.since(recalled.head)
    return rest === null ? null : [...recalled.changes, ...rest]
  }

  #admitJoiners(): void {
    const waiting: Joiner<Change, Made>[] = []
    const sharing = new Map<Revision | null, CatchUp<Frame, Made> | null>()
    for (const joiner of this.#joining) {
      const { member, after, recalled } = joiner
      if (member.ended) continue
      if (!sharing.has(after)) {
        if (this.#catchUps >= catchUpsAtOnce) {
          waiting.push(joiner)
          continue
        }
        sharing.set(after, this.#startCatchUp(after, recalled))
      }
      this.#members.add(member)
      member.admit(sharing.get(after) ?? null)
    }
    this.#joining = waiting
  }

  /** Begins the frame that brings those who have `after` to this instant. Null when nothing happened since. */
  #startCatchUp(after: Revision | null, recalled: Recalled<Change> | null): CatchUp<Frame, Made> | null {
    const changes = after === null ? null : this.#changesSince(after, recalled)
    if (changes?.length === 0) return null
    const frame = after === null || changes === null ? this.#follower.snapshot() : this.#follower.delta(after, changes)
    if (frame === null) return null
    this.#catchUps++
    const catchUp = new CatchUp(this.#expandFrame(frame), (part: Frame) => {
      this.counts.catchUpFrames++
      return this.#makePart(part)
    })
    const done = () => {
      this.#catchUps--
      if (this.#joining.length > 0) this.#requestStep()
    }
    catchUp.part(0).then(done, done)
    return catchUp
  }

  async #handOutFrame(made: Made, members: readonly Member<Made>[]): Promise<void> {
    this.#isIdle = false
    this.#bookmark?.refresh()
    for (const [index, member] of members.entries()) {
      if (index > 0 && index % membersPerTurn === 0) await otherWork()
      member.push(made)
    }
    if (this.waiting.holds(made)) made.keepBytes()
  }

  /** Reads changes that the group has not sent yet and memory no longer has. */
  async #recallForgotten(): Promise<Recalled<Change> | null> {
    if (this.#cursor === null || this.#members.size === 0 || this.#follower.since(this.#cursor) !== null) return null
    return this.#recallChanges(this.#cursor)
  }

  #untilDatabaseAnswers<T>(work: () => Promise<T>): Promise<T> {
    return untilDatabaseAnswers(work, this.#closing.signal)
  }

  /**
   * Reads the changes after `from` from the database. The database may be ahead of this server's tail, so this waits
   * until the follower is there too: what was recalled is then all in the past, and memory continues where it ends.
   */
  async #recallChanges(from: Revision): Promise<Recalled<Change> | null> {
    const recalled = await this.#untilDatabaseAnswers(() => this.#follower.recall(from))
    if (recalled !== null) await this.#options.feed.reach(recalled.head)
    return recalled
  }

  #expandFrame(frame: Frame): Promise<readonly Frame[]> {
    return this.#untilDatabaseAnswers(() => this.#follower.expand(frame))
  }

  #makePart(part: Frame): Promise<Made> {
    return this.#untilDatabaseAnswers(() => this.#options.make(part))
  }

  async #reopenFollower(): Promise<void> {
    this.#follower.close()
    this.#follower = this.#options.open(() => this.#requestStep())
    await this.#untilDatabaseAnswers(() => this.#follower.begin())
    for (const member of [...this.#members]) member.restart()
  }

  async #finishMembers(goneAt: Revision): Promise<void> {
    const began = [...this.#attached].filter((member) => member.began || this.#members.has(member))
    const [frame] = await this.#expandFrame(this.#follower.gone(goneAt))
    if (frame !== undefined && began.length > 0) {
      const made = await this.#makePart(frame)
      this.counts.groupFrames++
      for (const member of began) member.finish(made)
      if (this.waiting.holds(made)) made.keepBytes()
    }
    // Who had no frame yet hears that there is nothing.
    for (const { member } of this.#joining) if (!member.began) member.end(new FeedRefusal(serviceGone))
    this.#closeFollower()
  }

  /** Lets go of the follower. Members that still have frames to send go on without the group. */
  #closeFollower(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.counts.groups--
    if (this.#bookmark !== null) clearInterval(this.#bookmark)
    this.#closing.abort()
    this.#follower.close()
    this.#options.onEnd()
  }
}

/** Groups by what makes subscriptions alike. */
export type Groups = Map<string, Group<never, never, never>>
