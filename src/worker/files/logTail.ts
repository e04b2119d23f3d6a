import { type FileHandle, open } from 'node:fs/promises'
import type { ReplicaName } from '../assignment.ts'
import type { ReplicaFiles } from './replicaFiles.ts'

export interface LogTail {
  readonly stdout: readonly string[]
  readonly stderr: readonly string[]
  /** Whether older lines, or the beginning of the first line, were left out. */
  readonly truncated: boolean
}

/**
 * The maximum of bytes per stream, 256 KiB: both streams share one message of at most 4 MiB, and JSON may write six bytes
 * for one.
 */
export const tailBytes = 262_144

/** The last lines of both streams; none for a replica that never ran here or whose logs are removed. */
export async function tailReplica(files: ReplicaFiles, replica: ReplicaName, lines: number): Promise<LogTail> {
  const [stdout, stderr] = await Promise.all([
    tailFiles(files.log(replica, 'stdout'), files.rotatedLog(replica, 'stdout'), lines),
    tailFiles(files.log(replica, 'stderr'), files.rotatedLog(replica, 'stderr'), lines),
  ])
  return { stdout: stdout.lines, stderr: stderr.lines, truncated: stdout.truncated || stderr.truncated }
}

/** The last `count` lines of a log and its older part, read from the end. */
export async function tailFiles(
  log: string,
  older: string,
  count: number,
): Promise<{ lines: string[]; truncated: boolean }> {
  const handles: FileHandle[] = []
  try {
    for (const file of [log, older]) {
      const handle = await openIfThere(file)
      if (handle !== null) handles.push(handle)
    }
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
    return cut(Buffer.concat(chunks), count, more)
  } finally {
    await Promise.all(handles.map((handle) => handle.close()))
  }
}

function cut(bytes: Buffer, count: number, more: boolean): { lines: string[]; truncated: boolean } {
  const start = Math.max(0, bytes.length - tailBytes)
  let text = bytes.toString('utf8', start)
  // A cut inside a character leaves replacement characters, which the program did not write.
  if (start > 0 || more) text = text.replace(/^\uFFFD{1,3}/, '')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return { lines: count === 0 ? [] : lines.slice(-count), truncated: more || start > 0 || lines.length > count }
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
