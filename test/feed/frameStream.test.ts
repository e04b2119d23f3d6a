import { describe, expect, test } from 'vitest'
import { FrameStream, type Pulled } from '../../src/feed/frameStream.ts'

/** A source whose frames a test puts in. */
class Frames {
  readonly waiting: Pulled<string>[] = []
  closed = 0
  wake: () => void = () => undefined

  stream(): FrameStream<string> {
    return new FrameStream((wake) => {
      this.wake = wake
      return { pull: async () => this.waiting.shift() ?? null, close: () => this.closed++ }
    })
  }

  put(frame: string, last = false): void {
    this.waiting.push({ frame, last })
    this.wake()
  }
}

describe('a stream of frames', () => {
  test('waits for what comes and gives it in order', async () => {
    const frames = new Frames()
    const stream = frames.stream()
    const first = stream.next()
    frames.put('a')
    frames.put('b')
    expect(await first).toEqual({ value: 'a', done: false })
    expect(await stream.next()).toEqual({ value: 'b', done: false })
    await stream.return()
    expect(frames.closed).toBe(1)
  })

  test('return ends a next that waits, and closes the source once', async () => {
    const frames = new Frames()
    const stream = frames.stream()
    const waiting = stream.next()
    await stream.return()
    await stream.return()
    expect(await waiting).toEqual({ value: undefined, done: true })
    expect(await stream.next()).toEqual({ value: undefined, done: true })
    expect(frames.closed).toBe(1)
  })

  test('ends after the last frame', async () => {
    const frames = new Frames()
    const stream = frames.stream()
    frames.put('gone', true)
    expect(await stream.next()).toEqual({ value: 'gone', done: false })
    expect(frames.closed).toBe(1)
    expect(await stream.next()).toEqual({ value: undefined, done: true })
  })

  test('one that nobody reads opens nothing', async () => {
    let opened = 0
    const stream = new FrameStream(() => {
      opened++
      return { pull: async () => null, close: () => undefined }
    })
    await stream.return()
    expect(opened).toBe(0)
  })

  test('an error of the source reaches the reader and closes the source', async () => {
    let closed = 0
    const stream = new FrameStream<string>(() => ({
      pull: () => Promise.reject(new Error('no database')),
      close: () => closed++,
    }))
    await expect(stream.next()).rejects.toThrow('no database')
    expect(closed).toBe(1)
    expect(await stream.next()).toEqual({ value: undefined, done: true })
  })
})
