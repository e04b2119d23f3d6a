import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import type { LogFormat } from './readers.ts'

export interface LogLines {
  /** Null: pretty on a terminal, JSON anywhere else. */
  readonly format: LogFormat | null
  readonly isTerminal: boolean
  readonly destination: DestinationStream
}

/**
 * Opens the log of the server or of the worker. A JSON line names its level in a word and its time in ISO 8601, so that
 * people and programs that search it need no table of pino's numbers.
 */
export function openLog(options: LoggerOptions, { format, isTerminal, destination }: LogLines): Logger {
  if ((format ?? (isTerminal ? 'pretty' : 'json')) === 'json') {
    const time = () => `,"time":"${new Date().toISOString()}"`
    return pino({ ...options, timestamp: time, formatters: { level: (level) => ({ level }) } }, destination)
  }
  const lineOf = prettyFactory({ ignore: 'pid,hostname', colorize: isTerminal, translateTime: 'SYS:standard' })
  return pino(options, { write: (line) => destination.write(lineOf(line)) })
}
