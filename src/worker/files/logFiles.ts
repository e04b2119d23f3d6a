import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { hasCode } from '../../files/systemError.ts'
import type { ReplicaName } from '../assignment.ts'
import type { LogMark, LogMarks } from './logMarks.ts'
import { type LogStream, logStreams, type ReplicaFiles } from './replicaFiles.ts'

/** One stream of a log: its older part and what came after it, as one. */
export interface StreamFiles {
  /** The place of the oldest byte that is kept; bytes are counted from the first that was ever written. */
  readonly begin: number
  /** The place after the newest byte. */
  readonly end: number
  read(from: number, to: number): Buffer
}

export interface OpenLog {
  readonly name: string
  readonly marks: readonly LogMark[]
  readonly streams: Readonly<Record<LogStream, StreamFiles>>
}

/**
 * Reads a replica's log, also after the replica's end. Everything happens at once, because a log that is rotated
 * meanwhile has its bytes in other places. `use` must therefore read little: a disk that is slow holds up the worker.
 */
export function withLog<T>(files: ReplicaFiles, logMarks: LogMarks, replica: ReplicaName, use: (log: OpenLog) => T): T {
  const { log: name, marks, base } = logMarks.read(replica)
  const opened: number[] = []
  const open = (file: string) => {
    const descriptor = openIfThere(file)
    if (descriptor === null) return { descriptor: -1, size: 0 }
    opened.push(descriptor)
    return { descriptor, size: fstatSync(descriptor).size }
  }
  try {
    const streamOf = (stream: LogStream): StreamFiles => {
      const [older, newest] = [open(files.rotatedLog(replica, stream)), open(files.log(replica, stream))]
      const turn = base[stream]
      return {
        begin: turn - older.size,
        end: turn + newest.size,
        read: (from, to) =>
          Buffer.concat([
            readRange(older.descriptor, from - turn + older.size, Math.min(to, turn) - turn + older.size),
            readRange(newest.descriptor, Math.max(from, turn) - turn, to - turn),
          ]),
      }
    }
    return use({ name, marks, streams: { stdout: streamOf('stdout'), stderr: streamOf('stderr') } })
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

export function hasLog(files: ReplicaFiles, replica: ReplicaName): boolean {
  return logStreams.some((stream) => existsSync(files.log(replica, stream)))
}

function readRange(descriptor: number, from: number, to: number): Buffer {
  if (to <= from) return Buffer.alloc(0)
  const buffer = Buffer.alloc(to - from)
  return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, from))
}

function openIfThere(file: string): number | null {
  try {
    return openSync(file, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
