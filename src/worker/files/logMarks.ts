import { randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { writeWhole } from '../../files/writeWhole.ts'
import type { ReplicaName } from '../assignment.ts'
import { type LogStream, logStreams, type ReplicaFiles } from './replicaFiles.ts'

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
  /** Names this log, so that a position in another one is known as such. */
  readonly log: string
  readonly marks: readonly LogMark[]
  /** How many bytes of each stream were rotated away from its log. */
  readonly base: Readonly<Record<LogStream, number>>
}

type Base = { readonly base: Readonly<Record<LogStream, number>> }
type Entry = LogMark | Base | { readonly log: string }

/** A file of marks with more lines is written again, with the newest marks and starts only: 30 KiB become 16. */
const mostLines = 512
const keptMarks = 256
const keptStarts = 16

/** The name of a log whose marks are lost or were never written. */
const unnamed = '00000000'
const randomName = () => randomBytes(4).toString('hex')

interface Known {
  readonly log: string
  readonly base: Record<LogStream, number>
  lines: number
  /** What the last mark saw, on the disk or not. */
  seen: Readonly<Record<LogStream, number>>
}

/**
 * Remembers when each start began and when the worker saw the logs grow, in a file beside them: the logs themselves have
 * only what the programs write. A mark that the disk does not take is left out, because nothing depends on it.
 */
export class LogMarks {
  readonly #files: ReplicaFiles
  readonly #now: () => number
  readonly #newName: () => string
  /** The bases and the number of lines of replicas that were written lately. */
  readonly #known = new Map<ReplicaName, Known>()

  constructor(files: ReplicaFiles, now: () => number = () => Date.now(), newName: () => string = randomName) {
    this.#files = files
    this.#now = now
    this.#newName = newName
  }

  /** A start begins: what both logs have now was written before it. */
  markStart(replica: ReplicaName, start: number): void {
    this.#mark(replica, this.#sizesOf(replica), start)
  }

  /** What both logs have now was written before this moment. It is no mark where nothing has come since the last one. */
  markNow(replica: ReplicaName): void {
    const sizes = this.#sizesOf(replica)
    const { base, seen } = this.#knownOf(replica)
    if (logStreams.some((stream) => base[stream] + sizes[stream] > seen[stream])) this.#mark(replica, sizes)
  }

  /** The logs have these sizes now. */
  markSeen(replica: ReplicaName, size: Readonly<Record<LogStream, number>>): void {
    this.#mark(replica, size)
  }

  /** So many bytes were rotated away from a log. It belongs to the same moment as the rotation, or readers mix old and new. */
  markRotated(replica: ReplicaName, stream: LogStream, bytes: number): void {
    const { base } = this.#knownOf(replica)
    base[stream] += bytes
    this.#append(replica, { base })
  }

  read(replica: ReplicaName): ReplicaMarks {
    const { log, marks, base } = this.#readFile(replica)
    const known = this.#known.get(replica)
    return { log: known?.log ?? log ?? unnamed, marks, base: known?.base ?? base }
  }

  forget(replica: ReplicaName): void {
    this.#known.delete(replica)
  }

  #knownOf(replica: ReplicaName) {
    const known = this.#known.get(replica)
    if (known !== undefined) return known
    const { log, marks, base } = this.#readFile(replica)
    const { stdout, stderr } = marks.at(-1) ?? base
    const read = { log: log ?? this.#newName(), base, lines: this.#lines(replica).length, seen: { stdout, stderr } }
    this.#known.set(replica, read)
    if (log === null) this.#append(replica, { log: read.log })
    return read
  }

  #mark(replica: ReplicaName, size: Readonly<Record<LogStream, number>>, start?: number): void {
    const known = this.#knownOf(replica)
    known.seen = { stdout: known.base.stdout + size.stdout, stderr: known.base.stderr + size.stderr }
    this.#append(replica, { at: this.#now(), ...(start === undefined ? {} : { start }), ...known.seen })
  }

  #sizesOf(replica: ReplicaName): Record<LogStream, number> {
    const size = (stream: LogStream) => statSync(this.#files.log(replica, stream), { throwIfNoEntry: false })?.size ?? 0
    return { stdout: size('stdout'), stderr: size('stderr') }
  }

  #readFile(replica: ReplicaName) {
    const marks: LogMark[] = []
    let base = { stdout: 0, stderr: 0 }
    let log: string | null = null
    for (const line of this.#lines(replica)) {
      const entry = parse(line)
      if (entry === null) continue
      if ('base' in entry) base = { ...entry.base }
      else if ('log' in entry) log = entry.log
      else marks.push(entry)
    }
    return { log, marks, base }
  }

  #append(replica: ReplicaName, entry: Entry): void {
    const known = this.#knownOf(replica)
    const file = this.#files.marks(replica)
    try {
      appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 })
      known.lines += 1
      if (known.lines <= mostLines) return
      const { log, marks, base } = this.read(replica)
      const starts = marks.slice(0, -keptMarks).filter(({ start }) => start !== undefined)
      const kept = [{ log }, { base }, ...starts.slice(-keptStarts), ...marks.slice(-keptMarks)]
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
function parse(line: string): Entry | null {
  try {
    return JSON.parse(line) as Entry
  } catch {
    return null
  }
}

/** Says of one stream when its bytes came, and from which start. It is asked in the order of the bytes. */
export class MarkReader {
  readonly #marks: readonly LogMark[]
  readonly #stream: LogStream
  #seen = 0
  #begun = 0
  #start: number | null = null

  constructor(marks: readonly LogMark[], stream: LogStream) {
    this.#marks = marks
    this.#stream = stream
  }

  /** When the worker first saw all of these bytes, and the start that wrote them; null where no mark says it. */
  dateOf(begin: number, end: number): { readonly at: number | null; readonly start: number | null } {
    const [marks, stream] = [this.#marks, this.#stream]
    while (this.#seen < marks.length && (marks[this.#seen]?.[stream] ?? 0) < end) this.#seen += 1
    for (; this.#begun < marks.length && (marks[this.#begun]?.[stream] ?? 0) <= begin; this.#begun++)
      this.#start = marks[this.#begun]?.start ?? this.#start
    return { at: marks[this.#seen]?.at ?? null, start: this.#start }
  }
}

/** The starts that the marks know. */
export function startsOf(marks: readonly LogMark[]): { readonly start: number; readonly at: number }[] {
  return marks.flatMap(({ start, at }) => (start === undefined ? [] : [{ start, at }]))
}
