import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { writeWhole } from '../../files/writeWhole.ts'
import type { ReplicaName } from '../assignment.ts'
import type { LogStream, ReplicaFiles } from './replicaFiles.ts'

/**
 * What was in the logs at an instant of this machine's clock. Bytes are counted from the first that the replica ever
 * wrote, so that they mean the same after a rotation.
 */
export interface LogMark extends Readonly<Record<LogStream, number>> {
  readonly at: number
  /** The start that began then; left out where somebody only looked. */
  readonly start?: number
}

/** The marks of a replica, oldest first. */
export interface ReplicaMarks {
  readonly marks: readonly LogMark[]
  /** How many bytes of each stream were rotated away from its log. */
  readonly base: Readonly<Record<LogStream, number>>
}

/** A file of marks with more lines is written again, with the newest marks and starts only: 30 KiB become 16. */
const mostLines = 512
const keptMarks = 256
const keptStarts = 16

/**
 * Remembers when each start began and when the worker saw the logs grow, in a file beside them: the logs themselves have
 * only what the programs write. A mark that the disk does not take is left out, because nothing depends on it.
 */
export class LogMarks {
  readonly #files: ReplicaFiles
  readonly #now: () => number
  /** The bases and the number of lines of replicas that were written lately. */
  readonly #known = new Map<ReplicaName, { base: Record<LogStream, number>; lines: number }>()

  constructor(files: ReplicaFiles, now: () => number = () => Date.now()) {
    this.#files = files
    this.#now = now
  }

  /** A start begins: what both logs have now was written before it. */
  markStart(replica: ReplicaName, start: number): void {
    const { base } = this.#knownOf(replica)
    const size = (stream: LogStream) => statSync(this.#files.log(replica, stream), { throwIfNoEntry: false })?.size ?? 0
    this.#append(replica, {
      at: this.#now(),
      start,
      stdout: base.stdout + size('stdout'),
      stderr: base.stderr + size('stderr'),
    })
  }

  /** The logs have these sizes now. */
  markSeen(replica: ReplicaName, size: Readonly<Record<LogStream, number>>): void {
    const { base } = this.#knownOf(replica)
    this.#append(replica, { at: this.#now(), stdout: base.stdout + size.stdout, stderr: base.stderr + size.stderr })
  }

  /** So many bytes were rotated away from a log. */
  markRotated(replica: ReplicaName, stream: LogStream, bytes: number): void {
    const { base } = this.#knownOf(replica)
    base[stream] += bytes
    this.#append(replica, { base })
  }

  read(replica: ReplicaName): ReplicaMarks {
    const marks: LogMark[] = []
    let base = { stdout: 0, stderr: 0 }
    for (const line of this.#lines(replica)) {
      const entry = parse(line)
      if (entry === null) continue
      if ('base' in entry) base = { ...entry.base }
      else marks.push(entry)
    }
    return { marks, base: this.#known.get(replica)?.base ?? base }
  }

  forget(replica: ReplicaName): void {
    this.#known.delete(replica)
  }

  #knownOf(replica: ReplicaName) {
    const known = this.#known.get(replica)
    if (known !== undefined) return known
    const read = { base: { ...this.read(replica).base }, lines: this.#lines(replica).length }
    this.#known.set(replica, read)
    return read
  }

  #append(replica: ReplicaName, entry: LogMark | { readonly base: Readonly<Record<LogStream, number>> }): void {
    const known = this.#knownOf(replica)
    const file = this.#files.marks(replica)
    try {
      appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
      known.lines += 1
      if (known.lines <= mostLines) return
      const { marks, base } = this.read(replica)
      const starts = marks.slice(0, -keptMarks).filter(({ start }) => start !== undefined)
      const kept = [{ base }, ...starts.slice(-keptStarts), ...marks.slice(-keptMarks)]
      writeWhole(file, `${kept.map((one) => JSON.stringify(one)).join('\n')}\n`)
      known.lines = kept.length
    } catch {
      // The disk is full, or somebody has removed the directory.
    }
  }

  #lines(replica: ReplicaName): string[] {
    try {
      return readFileSync(this.#files.marks(replica), 'utf8').split('\n').slice(0, -1)
    } catch {
      return []
    }
  }
}

/** Null for a line that a full disk has cut. */
function parse(line: string): LogMark | { readonly base: Readonly<Record<LogStream, number>> } | null {
  try {
    return JSON.parse(line) as LogMark
  } catch {
    return null
  }
}

/** The place of a line in a stream. */
export interface LineBytes {
  readonly begin: number
  readonly end: number
}

/** From the line with this index on: when the worker first saw it, and the start that wrote it; null where no mark says it. */
export interface LineMark {
  readonly stream: LogStream
  readonly line: number
  readonly at: number | null
  readonly start: number | null
}

/** Says of the lines of one stream when they came; one entry wherever that changes. */
export function marksOfLines(stream: LogStream, lines: readonly LineBytes[], marks: readonly LogMark[]): LineMark[] {
  const found: LineMark[] = []
  let seen = 0
  let begun = 0
  let start: number | null = null
  for (const [line, { begin, end }] of lines.entries()) {
    while (seen < marks.length && (marks[seen]?.[stream] ?? 0) < end) seen += 1
    for (; begun < marks.length && (marks[begun]?.[stream] ?? 0) <= begin; begun++) start = marks[begun]?.start ?? start
    const at = marks[seen]?.at ?? null
    const last = found.at(-1)
    if (last === undefined || last.at !== at || last.start !== start) found.push({ stream, line, at, start })
  }
  return found
}

/** The starts that the marks know. */
export function startsOf(marks: readonly LogMark[]): { readonly start: number; readonly at: number }[] {
  return marks.flatMap(({ start, at }) => (start === undefined ? [] : [{ start, at }]))
}
