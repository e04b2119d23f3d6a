import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FeedCounts } from '../../src/feed/feedCounts.ts'
import type { FrameSink, SharedFrame } from '../../src/feed/frameSink.ts'
import { Member, mostBytesPending, mostPending } from '../../src/feed/member.ts'
import { type FullStream, WaitingBytes } from '../../src/feed/waitingBytes.ts'

class TestFrame implements SharedFrame {
  readonly size: number
  isBytesOnly = false

  constructor(size: number) {
    this.size = size
  }

  keepBytes(): void {
    this.isBytesOnly = true
  }
}

/** A reader that takes frames only while it is awake. */
class Reader implements FrameSink<TestFrame> {
  ready = true
  readonly heard: TestFrame[] = []
  error: unknown = undefined
  #callback: () => void = () => undefined

  whenReady(callback: () => void): void {
    this.#callback = callback
  }

  send(made: TestFrame): void {
    this.heard.push(made)
  }

  end(error: unknown): void {
    this.error = error
  }

  wake(): void {
    this.ready = true
    this.#callback()
  }
}

const budget = 100 * 1_048_576
let counts: FeedCounts
let waiting: WaitingBytes
let rejoined: Member<TestFrame>[]
beforeEach(() => {
  counts = new FeedCounts()
  waiting = new WaitingBytes(budget, () => counts.closed++)
  rejoined = []
})

function memberOf(reader: Reader): Member<TestFrame> {
  const group = { counts, waiting, rejoin: (member: Member<TestFrame>) => rejoined.push(member), left: () => undefined }
  return new Member(group, reader)
}

function follower(ready: boolean): { reader: Reader; member: Member<TestFrame> } {
  const reader = new Reader()
  const member = memberOf(reader)
  member.admit(null)
  reader.ready = ready
  return { reader, member }
}

describe('one subscriber', () => {
  test('that takes frames at once holds nothing, and nobody writes a frame for it', () => {
    const { reader, member } = follower(true)
    const frame = new TestFrame(10)
    Object.defineProperty(frame, 'size', { get: () => expect.fail('the frame was written') })
    member.push(frame)
    expect(reader.heard).toEqual([frame])
    expect(waiting.bytes).toBe(0)
  })

  test('that sleeps has at most 256 frames waiting, then one SNAPSHOT', () => {
    const { reader, member } = follower(false)
    for (let frame = 0; frame < mostPending; frame++) member.push(new TestFrame(10))
    expect(waiting.bytes).toBe(10 * mostPending)
    member.push(new TestFrame(10))
    expect([waiting.bytes, counts.collapsed, rejoined]).toEqual([0, 1, []])
    reader.wake()
    expect([rejoined, reader.heard]).toEqual([[member], []])
  })

  test('that sleeps has at most 4 MiB waiting, then one SNAPSHOT', () => {
    const { reader, member } = follower(false)
    const large = mostBytesPending / 4
    for (let frame = 0; frame < 4; frame++) member.push(new TestFrame(large))
    expect([waiting.bytes, counts.collapsed]).toEqual([mostBytesPending, 0])
    member.push(new TestFrame(1))
    expect([waiting.bytes, counts.collapsed]).toEqual([0, 1])
    reader.wake()
    expect(rejoined).toEqual([member])
  })

  test('gets everything when it wakes in time, and holds nothing any more', () => {
    const { reader, member } = follower(false)
    const frames = [new TestFrame(1), new TestFrame(2), new TestFrame(3)]
    for (const frame of frames) member.push(frame)
    reader.wake()
    expect(reader.heard).toEqual(frames)
    expect(waiting.bytes).toBe(0)
  })

  test('that leaves holds nothing any more', () => {
    const { member } = follower(false)
    member.push(new TestFrame(5))
    member.close()
    expect(waiting.bytes).toBe(0)
  })

  test('hears the last frame also when it sleeps', () => {
    const { reader, member } = follower(false)
    const last = new TestFrame(5)
    member.finish(last)
    expect(waiting.bytes).toBe(5)
    reader.wake()
    expect([reader.heard, reader.error, waiting.bytes]).toEqual([[last], null, 0])
  })

  test('that falls asleep before its catch-up frame holds that as bytes, and has it made again when it was given up', async () => {
    const reader = new Reader()
    const member = memberOf(reader)
    const made: TestFrame[] = []
    const part = async () => {
      const frame = new TestFrame(7)
      made.push(frame)
      return frame
    }
    reader.ready = false
    member.admit({ count: async () => 1, part })
    await vi.waitFor(() => expect(waiting.bytes).toBe(7))
    expect(made[0]?.isBytesOnly).toBe(true)
    member.collapse()
    expect(waiting.bytes).toBe(0)
    reader.wake()
    await vi.waitFor(() => expect(reader.heard).toEqual([made[1]]))
    expect(waiting.bytes).toBe(0)
  })
})

describe('the budget of a server', () => {
  test('counts a frame once, however many wait for it', () => {
    const frame = new TestFrame(1_000)
    const followers = Array.from({ length: 50 }, () => follower(false))
    for (const { member } of followers) member.push(frame)
    expect(waiting.bytes).toBe(1_000)
    for (const { reader } of followers.slice(1)) reader.wake()
    expect(waiting.bytes).toBe(1_000)
    followers[0]?.reader.wake()
    expect(waiting.bytes).toBe(0)
  })

  test('collapses those for whom the most waits, and leaves the others alone', () => {
    const mib = 1_048_576
    const few = Array.from({ length: 10 }, () => follower(false))
    const much = Array.from({ length: 34 }, () => follower(false))
    for (const { member } of few) member.push(new TestFrame(1))
    for (let frame = 0; frame < 3; frame++) for (const { member } of much) member.push(new TestFrame(mib))
    expect(waiting.bytes).toBeLessThanOrEqual(budget)
    expect(counts.collapsed).toBeGreaterThan(0)
    expect(counts.collapsed).toBeLessThan(much.length)
    for (const { reader, member } of few) {
      reader.wake()
      expect(reader.heard).toHaveLength(1)
      expect(rejoined).not.toContain(member)
    }
  })

  describe('closes connections', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
    afterEach(() => void vi.useRealTimers())

    const streamOf = (waitingBytes: number, closed: string[], name: string): FullStream & { waitingBytes: number } => ({
      waitingBytes,
      closeSlow: () => closed.push(name),
    })

    test('that take nothing, the largest first, and not those that get along', () => {
      const closed: string[] = []
      const moving = streamOf(budget / 2, closed, 'moving')
      waiting.full(moving)
      waiting.full(streamOf(budget / 4, closed, 'small'))
      waiting.full(streamOf(budget / 2, closed, 'large'))
      for (let second = 0; second < 4; second++) {
        moving.waitingBytes -= 1_000
        vi.advanceTimersByTime(1_000)
      }
      expect(closed).toEqual([])
      moving.waitingBytes -= 1_000
      vi.advanceTimersByTime(2_000)
      expect(closed).toEqual(['large'])
      expect(counts.closed).toBe(1)
      vi.advanceTimersByTime(60_000)
      expect(closed).toEqual(['large'])
    })

    test('only when the budget is used up', () => {
      const closed: string[] = []
      const stream = streamOf(budget, closed, 'one')
      waiting.full(stream)
      vi.advanceTimersByTime(60_000)
      expect(closed).toEqual([])
      waiting.drained(stream)
      expect([waiting.bytes, vi.getTimerCount()]).toEqual([0, 0])
    })
  })
})
