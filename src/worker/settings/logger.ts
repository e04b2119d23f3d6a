import pino, { type DestinationStream, type Logger } from 'pino'
import { openLog } from '../../settings/openLog.ts'
import type { LogFormat } from '../../settings/readers.ts'
import { rotateLog } from '../files/logRotation.ts'

/** While the disk takes nothing, at most 1 MiB of log lines waits for it; more is dropped. */
const mostWaitingBytes = 1_048_576
const rotationMillis = 2_000

export interface LogOptions {
  readonly level: string
  readonly format: LogFormat | null
  /** Null stands for standard output. */
  readonly file: string | null
  readonly terminal: boolean
}

/**
 * The worker's log has one line per start, end, stop and connection. A
 * full disk does not end the worker: what could not be written waits for the next line, up to a bound.
 */
export function openLogger({ level, format, file, terminal }: LogOptions): Logger {
  const destination = pino.destination({
    dest: file ?? 1,
    append: true,
    sync: true,
    mkdir: true,
    maxLength: mostWaitingBytes,
  })
  destination.on('error', () => undefined)
  return openLog(
    { name: 'worker', level },
    { format, isTerminal: file === null && terminal, destination: destination as DestinationStream },
  )
}

/** Keeps the worker's own log at two files until the returned function is called. */
export function keepLogSmall(file: string, log: Logger): () => void {
  let isRotating = false
  const rotate = async (): Promise<void> => {
    if (isRotating) return
    isRotating = true
    await rotateLog(file, `${file}.1`, () => undefined).catch((error: unknown) =>
      log.warn({ err: error }, "the worker's own log could not be rotated"),
    )
    isRotating = false
  }
  void rotate()
  const timer = setInterval(() => void rotate(), rotationMillis)
  timer.unref()
  return () => clearInterval(timer)
}
