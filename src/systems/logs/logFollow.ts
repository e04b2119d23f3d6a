import { setTimeout as wait } from 'node:timers/promises'
import type { Feed } from '../../feed/feed.ts'
import type { FrameSink } from '../../feed/frameSink.ts'
import type { Attachment } from '../../feed/pulledSubscription.ts'
import { untilDatabaseAnswers } from '../../feed/untilDatabaseAnswers.ts'
import { bounds } from '../../model/bounds.ts'
import type { ReplicaId, ServiceId, WorkerId } from '../../model/id.ts'
import type { LogAnswer, LogStart, LogStreamName } from '../../model/replicaLog.ts'
import { type LogLine, linesOf } from './logLines.ts'
import type { LogRequests } from './logRequests.ts'

/** A reader of a log, from the moment at which it begins. */
export interface LogWish {
  readonly replica: ReplicaId
  readonly service: ServiceId
  readonly stream: LogStreamName | null
  /** It has everything up to this position; null: it begins with the newest lines. */
  readonly after: string | null
  readonly tailLines: number
}

export interface LogFrame {
  readonly kind: 'SNAPSHOT' | 'DELTA' | 'GONE'
  readonly lines: readonly LogLine[]
  readonly starts: readonly LogStart[]
  readonly skippedBytes: number
  readonly position: string | null
}

export interface FollowParts {
  readonly feed: Feed
  readonly logRequests: LogRequests
}

/** A worker may wait so long for something to come. A reader that leaves costs its worker nothing after that. */
const waitSeconds = 10
/** The shortest time between two frames of one reader: a program that prints all the time makes ten frames a second. */
const paceMillis = 100
/** A worker that did not answer, or does not know the replica, is asked again after this time, or when the service changes. */
const retryMillis = 2_000

/**
 * Follows the log of a replica for one reader: each frame is a question to the worker, which waits for what comes after
 * the position of the frame before. The next question is asked when the reader takes frames, so a slow reader makes
 * nothing wait but itself; what is no longer kept by then is told as a number of bytes. Nothing is asked while nobody
 * reads. A worker that is away is waited for.
 */
export class LogFollow implements Attachment {
  readonly #parts: FollowParts
  readonly #wish: LogWish
  readonly #sink: Pick<FrameSink<LogFrame>, 'ready' | 'whenReady' | 'end'>
  readonly #send: (frame: LogFrame) => Promise<void>
  readonly #life = new AbortController()
  readonly #closeTopic: () => void
  #position: string | null
  #workerId: WorkerId | null = null
  /** Whether the replica's row may have changed since it was read. */
  #isChanged = true
  #wake: () => void = () => undefined

  constructor(
    parts: FollowParts,
    wish: LogWish,
    sink: Pick<FrameSink<LogFrame>, 'ready' | 'whenReady' | 'end'>,
    send: (frame: LogFrame) => Promise<void>,
  ) {
    this.#parts = parts
    this.#wish = wish
    this.#sink = sink
    this.#send = send
    this.#position = wish.after
    this.#closeTopic = parts.feed.openService(wish.service, () => this.#onChange()).close
    void this.#run().then(
      () => this.#end(null),
      (error: unknown) => this.#end(error),
    )
  }

  pump(): void {
    this.#wake()
  }

  close(): void {
    this.#life.abort()
    this.#closeTopic()
    this.#wake()
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#untilSinkReady()
      if (this.#life.signal.aborted) return
      const hasEnded = this.#isChanged ? await this.#readRow() : false
      const answer = this.#workerId === null ? null : await this.#ask(this.#workerId)
      if (this.#life.signal.aborted) return
      if (answer !== null && answer.state !== 'NONE') await this.#tell(answer)
      // The row tells whether there will be more: a replica whose port was taken goes on elsewhere.
      const isOver = answer === null ? hasEnded && this.#workerId === null : answer.state !== 'OPEN'
      if (isOver && (hasEnded || (await this.#readRow()))) return await this.#deliver(this.#gone())
      if (answer === null || isOver) await this.#retryLater()
    }
  }

  #ask(workerId: WorkerId): Promise<LogAnswer | null> {
    const { replica, stream, tailLines } = this.#wish
    const question = {
      ...{ stream, start: null, since: null, tailLines, after: this.#position },
      maxBytes: bounds.logBytes.default,
      waitSeconds: this.#position === null ? 0 : waitSeconds,
    }
    return this.#parts.logRequests.ask(workerId, replica, question, { signal: this.#life.signal })
  }

  async #tell(answer: LogAnswer): Promise<void> {
    const { starts, skippedBytes, position } = answer
    const isFirst = this.#position === null
    this.#position = position
    const lines = linesOf(answer)
    if (!isFirst && lines.length + starts.length + skippedBytes === 0) return
    await this.#deliver({ kind: isFirst ? 'SNAPSHOT' : 'DELTA', lines, starts, skippedBytes, position })
    await this.#pause(paceMillis)
  }

  async #deliver(frame: LogFrame): Promise<void> {
    await this.#untilSinkReady()
    if (!this.#life.signal.aborted) await this.#send(frame)
  }

  #gone(): LogFrame {
    return { kind: 'GONE', lines: [], starts: [], skippedBytes: 0, position: this.#position }
  }

  /** Resolves with whether the replica has ended, or is not kept any more. */
  async #readRow(): Promise<boolean> {
    this.#isChanged = false
    const { database } = this.#parts.feed
    const read = () =>
      database.prisma.replica.findUnique({
        where: { id: this.#wish.replica },
        select: { workerId: true, endedAt: true },
      })
    const row = await untilDatabaseAnswers(read, this.#life.signal)
    this.#workerId = (row?.workerId ?? null) as WorkerId | null
    return row === null || row.endedAt !== null
  }

  #onChange(): void {
    this.#isChanged = true
    this.#wake()
  }

  /** Waits until the service changes, for some time. */
  async #retryLater(): Promise<void> {
    if (!this.#isChanged) {
      const changed = new AbortController()
      this.#wake = () => changed.abort()
      await this.#pause(retryMillis, changed.signal)
      this.#wake = () => undefined
    }
    this.#isChanged = true
  }

  async #untilSinkReady(): Promise<void> {
    while (!this.#sink.ready && !this.#life.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#sink.whenReady(resolve)
      })
    this.#wake = () => undefined
  }

  async #pause(millis: number, other?: AbortSignal): Promise<void> {
    const signal = other === undefined ? this.#life.signal : AbortSignal.any([this.#life.signal, other])
    await wait(millis, undefined, { signal }).catch(() => undefined)
  }

  #end(error: unknown): void {
    if (this.#life.signal.aborted) return
    this.close()
    this.#sink.end(error)
  }
}
