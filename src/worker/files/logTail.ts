import { type FileHandle, open } from 'node:fs/promises'
import type { ReplicaName } from '../assignment.ts'
import { type LineBytes, type LineMark, type LogMarks, marksOfLines, startsOf } from './logMarks.ts'
import { logStreams, type ReplicaFiles } from './replicaFiles.ts'

export interface LogTail {
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** Whether older lines, or the beginning of the first line, were left out. */
  readonly truncated: boolean
  /** When the lines came, and from which start. */
  readonly marks: readonly LineMark[]
  readonly starts: readonly { readonly start: number; readonly at: number }[]
}

export const emptyTail: LogTail = { stdout: [], stderr: [], truncated: false, marks: [], starts: [] }

/**
 * The maximum of bytes per stream, 256 KiB: both streams share one message of at most 4 MiB, and JSON may write six bytes
 * for one.
 */
export const tailBytes = 262_144

/** The last lines of both streams; none for a replica that never ran here or whose logs are removed. */
export async function tailReplica(
  files: ReplicaFiles,
  logMarks: LogMarks,
  replica: ReplicaName,
  lines: number,
): Promise<LogTail> {
  const { marks, base } = logMarks.read(replica)
  const [stdout, stderr] = await Promise.all(
    logStreams.map(async (stream) => {
      const tail = await readTail(files.log(replica, stream), files.rotatedLog(replica, stream), lines)
      const end = base[stream] + tail.size
      const places = tail.places.map((line) => ({ begin: end - line.begin, end: end - line.end }))
      return { ...tail, marks: marksOfLines(stream, places, marks) }
    }),
  )
  return {
    stdout: stdout?.lines ?? [],
    stderr: stderr?.lines ?? [],
    truncated: stdout?.truncated === true || stderr?.truncated === true,
    marks: [...(stdout?.marks ?? []), ...(stderr?.marks ?? [])],
    starts: startsOf(marks),
  }
}

/** The last `count` lines of a log and its older part, read from the end. */
export async function tailFiles(
  log: string,
  older: string,
  count: number,
): Promise<{ lines: string[]; truncated: boolean }> {
  const { lines, truncated } = await readTail(log, older, count)
  return { lines, truncated }
}

interface Tail {
  readonly lines: string[]
  readonly truncated: boolean
  /** How many bytes come after the beginning and after the end of each line. */
  readonly places: readonly LineBytes[]
}

async function readTail(log: string, older: string, count: number): Promise<Tail & { readonly size: number }> {
  const handles: FileHandle[] = []
  try {
    const newest = await openIfThere(log)
    const size = newest === null ? 0 : (await newest.stat()).size
    if (newest !== null) handles.push(newest)
    const rest = await openIfThere(older)
    if (rest !== null) handles.push(rest)
    const chunks: Buffer[] = []
    let bytes = 0
    let breaks = 0
    let more = false
    for await (const chunk of backwards(handles)) {
      // The last break ends the last line, so `count` lines are complete with one break more than lines.
      if (breaks > count || bytes >= tailBytes) {
        more = true
        break
      }
      chunks.unshift(chunk)
      bytes += chunk.length
      breaks += countBreaks(chunk)
    }
    return { ...cut(Buffer.concat(chunks), count, more), size }
  } finally {
    await Promise.all(handles.map((handle) => handle.close()))
  }
}

function cut(bytes: Buffer, count: number, more: boolean): Tail {
  const start = Math.max(0, bytes.length - tailBytes)
  let text = bytes.toString('utf8', start)
  // A cut inside a character leaves replacement characters, which the program did not write.
  if (start > 0 || more) text = text.replace(/^\uFFFD{1,3}/, '')
  const lines = text.split('\n')
  const places: LineBytes[] = []
  for (let from = start; from < bytes.length; ) {
    const at = bytes.indexOf(10, from)
    const next = at === -1 ? bytes.length : at + 1
    places.push({ begin: bytes.length - from, end: bytes.length - next })
    from = next
  }
  if (lines.at(-1) === '') lines.pop()
  return {
    lines: count === 0 ? [] : lines.slice(-count),
    places: count === 0 ? [] : places.slice(-count),
    truncated: more || start > 0 || lines.length > count,
  }
}

const chunkBytes = 65_536

async function* backwards(handles: readonly FileHandle[]): AsyncGenerator<Buffer> {
  for (const handle of handles) {
    let end = (await handle.stat()).size
    while (end > 0) {
      const length = Math.min(chunkBytes, end)
      const buffer = Buffer.alloc(length)
      const { bytesRead } = await handle.read(buffer, 0, length, end - length)
      end -= length
      yield buffer.subarray(0, bytesRead)
    }
  }
}

function countBreaks(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1
  return count
}

async function openIfThere(file: string): Promise<FileHandle | null> {
  try {
    return await open(file, 'r')
  } catch {
    return null
  }
}
