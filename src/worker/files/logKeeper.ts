import { truncateSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import type { Logger } from 'pino'
import { hasCode } from '../../files/systemError.ts'
import type { ReplicaName } from '../assignment.ts'
import { livingLogBytes, logBytes, nextLookMillis, shortestMillis, slowMillis } from './logBounds.ts'
import type { LogMarks } from './logMarks.ts'
import { rotateLog } from './logRotation.ts'
import { type LogStream, logStreams, type ReplicaFiles } from './replicaFiles.ts'

/** A log of this many bytes grew by far more than it may before anybody looked: its program is named in the worker's log. */
const tooFastBytes = 4 * logBytes

/** What the last look saw of a replica's logs. */
interface Seen {
  at: number
  readonly size: Record<LogStream, number>
  readonly older: Record<LogStream, number>
  isTooFast: boolean
}

/**
 * Keeps the logs of living replicas within their bounds. Whoever notices that a log may have grown calls `look`. A log
 * that grows fast is looked at again automatically, before it can have grown by as much as it may; so a writer passes
 * the bound by what it writes until the next look, which is 50 ms away at most while it writes that fast.
 */
export class LogKeeper {
  readonly #files: ReplicaFiles
  readonly #marks: LogMarks
  readonly #log: Logger
  readonly #mostBytes: number
  readonly #seen = new Map<ReplicaName, Seen>()
  readonly #looking = new Map<ReplicaName, Promise<boolean>>()
  readonly #timers = new Map<ReplicaName, NodeJS.Timeout>()
  #isClosed = false

  constructor(files: ReplicaFiles, marks: LogMarks, log: Logger, mostBytes: number = livingLogBytes) {
    this.#files = files
    this.#marks = marks
    this.#log = log
    this.#mostBytes = mostBytes
  }

  /**
   * A process of the replica starts, or writes after it wrote nothing. It may write very much in its first moment, so
   * looks follow at once.
   */
  watchGrowth(replica: ReplicaName): void {
    this.#watch(replica, shortestMillis)
  }

  /** Looks at both logs and turns those that are full. Resolves with false when that failed; never rejects. */
  look(replica: ReplicaName): Promise<boolean> {
    const running = this.#looking.get(replica)
    if (running !== undefined) return running
    const look = this.#look(replica)
      .then(() => true)
      .catch((error: unknown) => {
        this.#log.warn({ err: error, replica }, 'a log could not be rotated')
        return false
      })
      .finally(() => this.#looking.delete(replica))
    this.#looking.set(replica, look)
    return look
  }

  /** The replica has ended and nobody asks for it as for a living one. */
  forget(replica: ReplicaName): void {
    clearTimeout(this.#timers.get(replica))
    this.#timers.delete(replica)
    this.#seen.delete(replica)
    this.#marks.forget(replica)
  }

  /** Resolves when no look is under way any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    await Promise.all(this.#looking.values())
  }

  async #look(replica: ReplicaName): Promise<void> {
    const seen = this.#seen.get(replica) ?? (await this.#begin(replica))
    const sinceMillis = performance.now() - seen.at
    const size = await this.#sizes(replica)
    const grown = logStreams.reduce((sum, stream) => sum + Math.max(0, size[stream] - seen.size[stream]), 0)
    seen.at = performance.now()
    if (grown > 0) this.#marks.markSeen(replica, size)
    for (const stream of logStreams) await this.#turn(replica, stream, size[stream], seen)
    if (grown > 0) await this.#keepTotal()
    const next = nextLookMillis(grown, sinceMillis, logBytes)
    if (next !== null && this.#seen.has(replica)) this.#lookAfter(replica, next)
  }

  async #turn(replica: ReplicaName, stream: LogStream, size: number, seen: Seen): Promise<void> {
    seen.size[stream] = size
    if (size < logBytes) return
    let turned = 0
    await rotateLog(this.#files.log(replica, stream), this.#files.rotatedLog(replica, stream), (bytes) => {
      this.#marks.markRotated(replica, stream, bytes)
      turned = bytes
    })
    if (turned === 0) return
    seen.size[stream] = 0
    seen.older[stream] = Math.min(turned, logBytes)
    if (turned < tooFastBytes || seen.isTooFast) return
    seen.isTooFast = true
    this.#log.warn(
      { replica, stream, bytes: turned },
      `a replica writes its log faster than it can be kept: ${Math.round(turned / 1_048_576)} MiB came between two looks, and all but the last ${logBytes / 1_048_576} MiB are lost`,
    )
  }

  /** Removes older parts, then logs, the largest first, until all logs together are within their bound. */
  async #keepTotal(): Promise<void> {
    let total = 0
    for (const { size, older } of this.#seen.values())
      for (const stream of logStreams) total += size[stream] + older[stream]
    while (total > this.#mostBytes) {
      const largest = this.#largest('older') ?? this.#largest('size')
      if (largest === null) return
      const { replica, stream, part, bytes } = largest
      total -= bytes[stream]
      if (part === 'older') await rm(this.#files.rotatedLog(replica, stream), { force: true })
      else {
        truncateSync(this.#files.log(replica, stream), 0)
        this.#marks.markRotated(replica, stream, bytes[stream])
      }
      bytes[stream] = 0
    }
  }

  #largest(part: 'older' | 'size') {
    const all = [...this.#seen].flatMap(([replica, seen]) =>
      logStreams.map((stream) => ({ replica, stream, part, bytes: seen[part] })),
    )
    const [largest] = all.sort((a, b) => b.bytes[b.stream] - a.bytes[a.stream])
    return largest === undefined || largest.bytes[largest.stream] === 0 ? null : largest
  }

  async #begin(replica: ReplicaName): Promise<Seen> {
    const older = { stdout: 0, stderr: 0 }
    for (const stream of logStreams) older[stream] = await sizeOf(this.#files.rotatedLog(replica, stream))
    // The time of its growth is not known, so a large log counts as one that grows fast.
    const seen: Seen = { at: performance.now() - slowMillis, size: { stdout: 0, stderr: 0 }, older, isTooFast: false }
    this.#seen.set(replica, seen)
    return seen
  }

  async #sizes(replica: ReplicaName): Promise<Record<LogStream, number>> {
    const [stdout, stderr] = await Promise.all(logStreams.map((stream) => sizeOf(this.#files.log(replica, stream))))
    return { stdout: stdout ?? 0, stderr: stderr ?? 0 }
  }

  /** Looks again and again, each time after four times the time, until the usual look is early enough. */
  #watch(replica: ReplicaName, millis: number): void {
    if (millis < slowMillis) this.#lookAfter(replica, millis, () => this.#watch(replica, millis * 4))
  }

  /** `then` follows unless the log grows so fast that another look follows anyway. */
  #lookAfter(replica: ReplicaName, millis: number, then?: () => void): void {
    if (this.#isClosed || this.#timers.has(replica)) return
    const timer = setTimeout(() => {
      this.#timers.delete(replica)
      void this.look(replica).then(() => {
        if (this.#seen.has(replica)) then?.()
      })
    }, millis)
    timer.unref()
    this.#timers.set(replica, timer)
  }
}

/** 0 where there is no file, also because something has taken the place of its directory. */
async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return 0
    throw error
  }
}
