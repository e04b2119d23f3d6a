import pino, { type Logger } from 'pino'
import pretty from 'pino-pretty'

/** One line per start, end, stop and (re)connection: for people on a terminal, as JSON anywhere else. Level by XCE_LOG_LEVEL. */
export function openLogger(environment: Readonly<Record<string, string | undefined>>, terminal: boolean): Logger {
  const options = { name: 'worker', level: levelOf(environment['XCE_LOG_LEVEL']) }
  return terminal ? pino(options, pretty({ sync: true, ignore: 'pid,hostname' })) : pino(options)
}

function levelOf(text: string | undefined): string {
  return text !== undefined && (text === 'silent' || text in pino.levels.values) ? text : 'info'
}
