import path from 'node:path'
import { type Logger, pino } from 'pino'
import { type Config, ConfigError, helpText, readConfig } from '../config/config.ts'
import { openLog } from '../settings/openLog.ts'
import { onStopSignals } from '../signals/stopSignals.ts'
import type { RunningServer, ServerOptions } from './compose.ts'
import { OutageLog } from './outageLog.ts'

/** The limit for a stop in order, 29 s; after it the process ends. */
const stopWithinMillis = 29_000

/** Runs the server program with the words of its command line. */
export async function runServer(words: readonly string[]): Promise<void> {
  if (words.length > 0) {
    printHelpOrRefuse(words)
    return
  }
  const { config, warnings } = settings()
  const outageLog = new OutageLog()
  const log = makeLog(config, outageLog)
  for (const warning of warnings) log.warn(warning)
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'The server fails.')
    process.exit(1)
  })
  const starting = start({
    config,
    log,
    outageLog,
    env: process.env,
    workerProgram: path.join(import.meta.dirname, '..', 'worker.js'),
  })
  stopOnSignal(starting, log)
  try {
    const { url } = await starting
    log.info(`The API and GraphiQL are at ${url}`)
  } catch (error) {
    log.fatal(sentence(error, config))
    log.debug({ err: error }, 'The start failed')
    process.exitCode = 1
  }
}

/** Loads the server only now, so that help and mistakes in the settings are printed at once. */
async function start(options: ServerOptions): Promise<RunningServer> {
  const { startServer } = await import('./compose.ts')
  return startServer(options)
}

/** The server has no options but --help, so any other word is refused: its user expects something that would not happen. */
function printHelpOrRefuse(words: readonly string[]): void {
  const other = words.find((word) => !['-h', '--help'].includes(word))
  if (other === undefined) {
    process.stdout.write(helpText())
    return
  }
  process.stderr.write(
    `${JSON.stringify(other)} is not an option of the server: its settings are environment variables, see --help.\n`,
  )
  process.exitCode = 1
}

function settings(): { config: Config; warnings: readonly string[] } {
  try {
    return readConfig(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const mistake of error.mistakes) process.stderr.write(`${mistake}\n`)
    process.exit(1)
  }
}

function makeLog({ logLevel: level, logFormat: format }: Config, { logMethod }: OutageLog): Logger {
  const destination = pino.destination({ dest: 1, sync: true })
  return openLog({ level, hooks: { logMethod } }, { format, isTerminal: process.stdout.isTTY, destination })
}

/** The first signal stops the server in order; another one, a second later or more, ends the process at once. */
function stopOnSignal(starting: Promise<RunningServer>, log: Logger): void {
  const stop = (signal: NodeJS.Signals) => {
    log.info(`${signal}: the server stops.`)
    setTimeout(() => {
      log.fatal(`The server did not stop within ${stopWithinMillis / 1000} s: it ends now.`)
      process.exit(1)
    }, stopWithinMillis).unref()
    starting
      .then((server) => server.stop())
      .then(
        () => {
          log.info('The server has stopped.')
          process.exit(0)
        },
        () => process.exit(1),
      )
  }
  const endAtOnce = (signal: NodeJS.Signals) => {
    log.warn(`${signal} again: the server ends at once.`)
    process.exit(1)
  }
  onStopSignals(['SIGTERM', 'SIGINT'], { first: stop, again: endAtOnce })
}

/** The sentence that says why the start failed and what to do. */
function sentence(error: unknown, { host, port, dataDirectory }: Config): string {
  const { code, syscall } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  if (code === 'EMFILE')
    return 'The server may open too few files for its start: raise "ulimit -n", or LimitNOFILE of its unit, to 1024 or more.'
  // A system call that is not about the address or the database is about the data directory.
  if (syscall !== undefined && !['listen', 'bind', 'getaddrinfo', 'connect'].includes(syscall)) {
    return `The data directory ${path.resolve(dataDirectory)} can't be used (${(error as Error).message}): correct that, or choose another with XCE_DATA_DIR.`
  }
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${host} is in use: stop what uses it, or choose another port with XCE_PORT.`
  if (code === 'EACCES')
    return `Port ${port} on ${host} may not be used by this user: choose another port with XCE_PORT.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${host} is not an address of this machine: choose another with XCE_HOST.`
  return error instanceof Error ? error.message : String(error)
}
