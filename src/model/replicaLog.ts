import type { Instant } from './id.ts'

// What servers and workers say to each other about the log of a replica.

export type LogStreamName = 'STDOUT' | 'STDERR'

/** What somebody wants to read. Null: no restriction. */
export interface LogQuestion {
  readonly stream: LogStreamName | null
  /** Only lines of this start. */
  readonly start: number | null
  /** Only lines that the worker saw at this instant of its machine's clock, or later. */
  readonly since: Instant | null
  /** The most lines, the newest of all that fit. */
  readonly tailLines: number
  /** The most bytes of text, line breaks included. */
  readonly maxBytes: number
  /** Only what comes after this position, the oldest first; `start`, `since` and `tailLines` do not count then. */
  readonly after: string | null
  /** How long the worker may wait for something to come after the position. */
  readonly waitSeconds: number
}

/** Lines that follow each other in the same stream, which the worker saw at the same instant, of the same start. */
export interface LogRun {
  readonly stream: LogStreamName
  /** When the worker saw them, by the clock of its machine; null: it does not know. */
  readonly at: Instant | null
  /** The start that wrote them; null: the worker does not know. */
  readonly start: number | null
  readonly lines: readonly string[]
  /** Whether the last line goes on: its line break was not there yet, or the line is too long for one piece. */
  readonly cut: boolean
}

export interface LogStart {
  readonly start: number
  readonly at: Instant
}

/**
 * OPEN: there may be more, now or later. ENDED: the replica has ended on this worker, and this is all of it. NONE: the
 * worker has no log of the replica.
 */
export const logStates = ['OPEN', 'ENDED', 'NONE'] as const
export type LogState = (typeof logStates)[number]

export interface LogAnswer {
  readonly state: LogState
  readonly runs: readonly LogRun[]
  /** The starts that the worker remembers, oldest first; with `after` those that began after it. */
  readonly starts: readonly LogStart[]
  /** Whether there was more than was asked for, or than is kept. */
  readonly truncated: boolean
  /** Bytes after the position that are not kept any more. */
  readonly skippedBytes: number
  /** Where the answer ends; a later question can go on there. */
  readonly position: string
}

/** A line, or a part of one, that is longer than this is given in parts: 64 KiB. */
export const longestPiece = 65_536

/**
 * Where a reader is in a log. `log` names the log itself, because a replica that is placed again begins another one.
 * The streams' numbers count all bytes that were ever written to them.
 */
export interface LogPosition {
  readonly log: string
  /** The newest start that was told. */
  readonly start: number
  readonly stdout: number
  readonly stderr: number
}

const pattern = /^([0-9a-f]{8})\.(\d{1,9})\.(\d{1,15})\.(\d{1,15})$/

export function positionText({ log, start, stdout, stderr }: LogPosition): string {
  return `${log}.${start}.${stdout}.${stderr}`
}

/** Null when the text is not a position. */
export function positionOf(text: string): LogPosition | null {
  const [, log, start, stdout, stderr] = pattern.exec(text) ?? []
  if (log === undefined) return null
  return { log, start: Number(start), stdout: Number(stdout), stderr: Number(stderr) }
}
