import { readFileSync } from 'node:fs'
import path from 'node:path'
import { orAbort } from './worker/abort.ts'
import { Drain } from './worker/drain/drain.ts'
import { DrainProgress, watchDrain } from './worker/drain/drainProgress.ts'
import { holderOf, lockStateDirectory, StateDirectoryInUseError } from './worker/files/lock.ts'
import { stateDirectoryIdOf } from './worker/files/stateDirectoryId.ts'
import { Link } from './worker/link/link.ts'
import { Outbox } from './worker/link/outbox.ts'
import { openCgroups } from './worker/machine/cgroup.ts'
import { Supervisor, type SupervisorOptions } from './worker/process/supervisor.ts'
import { readCommandLine, settingsText } from './worker/settings/commandLine.ts'
import { keepSmall, openLogger } from './worker/settings/logger.ts'
import { readWorkerSettings, stateDirectoryOf, type WorkerSettings } from './worker/settings/settings.ts'
import { UnusableError, withRemedy } from './worker/withRemedy.ts'

const help = `The worker of XCE Services: runs replicas on this host for the servers it is connected to.

Usage: xce-worker [options]

  --drain
      move all replicas to other workers, then end: the worker that runs on the state directory, or, where none does, this one
  -h, --help
      print this

Settings, as options or in the environment:
${settingsText}

Signals:
  SIGTERM, SIGINT, SIGHUP    end; the replicas run on, and the next worker with this state directory finds them
  SIGQUIT                    as --drain: move all replicas to other workers, then end
  SIGUSR2                    tell the servers that no probed replica is ready any more, disconnect, stop all replicas by their stop policies, forget them, end
`

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const line = readCommandLine(words)
  if ('fault' in line) return refuse([line.fault])
  if (line.help) {
    process.stdout.write(help)
    return 0
  }
  const environment = { ...process.env, ...line.settings }
  const read = readWorkerSettings(environment)
  // Whoever asks another process to drain need say no more than where that is.
  if ('faults' in read && !line.drain) return refuse(read.faults)
  const stateDirectory = stateDirectoryOf(environment)
  // Before the lock: whoever sees that this worker has it may send it a signal.
  const signals = heedSignals()
  const drainAt = (holder: number) =>
    watchDrain(stateDirectory, holder, signals.leave, (progress) => console.log(progress))
  const inState = <T>(use: () => Promise<T>) =>
    withRemedy(
      `The state directory ${stateDirectory}`,
      `correct that, ${line.drain ? 'say --drain as the user whose worker runs there, ' : ''}or choose another with --state-dir`,
      use,
    )
  try {
    if ('faults' in read) {
      const holder = await inState(() => holderOf(stateDirectory))
      if (holder !== null) return await drainAt(holder)
      return refuse([
        `No worker runs on the state directory ${stateDirectory}: see --state-dir. To start one that drains:`,
        ...read.faults,
      ])
    }
    // Held until the process has ended: who waits for the lock waits for that.
    await inState(() => lockStateDirectory(stateDirectory))
    await work(read.settings, signals, line.drain)
    return 0
  } catch (error) {
    if (error instanceof StateDirectoryInUseError && line.drain) return drainAt(error.holder)
    if (error instanceof StateDirectoryInUseError || error instanceof UnusableError) return refuse([error.message])
    throw error
  }
}

function refuse(faults: readonly string[]): number {
  for (const fault of faults) console.error(fault)
  return 1
}

interface Signals {
  readonly leave: AbortSignal
  readonly stopAll: AbortSignal
  /** Called for each, also for those that came before. */
  onDrain: (listener: () => void) => void
}

function heedSignals(): Signals {
  const leave = new AbortController()
  const stopAll = new AbortController()
  let drains = 0
  let listener = (): void => {
    drains += 1
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => leave.abort())
  process.on('SIGUSR2', () => stopAll.abort())
  process.on('SIGQUIT', () => listener())
  const onDrain = (next: () => void): void => {
    listener = next
    if (drains > 0) next()
  }
  return { leave: leave.signal, stopAll: stopAll.signal, onDrain }
}

/** Resolves when a signal, or the end of a drain, has ended it. */
async function work(settings: WorkerSettings, { leave, stopAll, onDrain }: Signals, drains: boolean): Promise<void> {
  const { stateDirectory, addresses, logFile } = settings
  const log = await withRemedy(`The log file ${logFile}`, 'correct that, or choose another with --log-file', () =>
    openLogger({ level: settings.logLevel, file: logFile, terminal: process.stdout.isTTY }),
  )
  if (logFile !== null) keepSmall(logFile, log)
  const cgroups = openCgroups()
  if (typeof cgroups === 'string') log.info(cgroups)
  const outbox = new Outbox()
  const { stateDirectoryId, supervisor, running } = await withRemedy(
    `The state directory ${stateDirectory}`,
    'correct that, or choose another with --state-dir',
    async () => ({
      stateDirectoryId: stateDirectoryIdOf(stateDirectory),
      ...(await supervise({
        stateDirectory,
        log,
        hostAddress: addresses[0] ?? null,
        cgroups: typeof cgroups === 'string' ? null : cgroups,
        onReport: (report) => outbox.put(report),
      })),
    }),
  )
  log.info({ stateDirectory, pid: process.pid, running }, 'the worker runs')
  const progress = new DrainProgress(stateDirectory)
  const drain = new Drain({ supervisor, log, onProgress: (sentence) => progress.write(sentence) })
  if (drains) drain.request()
  onDrain(() => drain.request())
  const retired = new AbortController()
  const signal = AbortSignal.any([leave, retired.signal, drain.done])
  const link = new Link({
    settings,
    softwareVersion: readVersion(),
    stateDirectoryId,
    supervisor,
    outbox,
    drain,
    log,
    signal,
  })
  const retire = () => void link.retire().then(() => retired.abort())
  if (stopAll.aborted) retire()
  stopAll.addEventListener('abort', retire)
  await link.run()
  const stopped = stopAll.aborted && (await stopReplicas(supervisor, leave))
  await supervisor.close()
  if (drain.done.aborted) progress.writeDone()
  log.info(
    `the worker ends; ${drain.done.aborted ? 'its replicas have moved' : stopped ? 'its replicas are stopped' : 'its replicas run on'}`,
  )
}

/** With what earlier workers left running. */
async function supervise(options: SupervisorOptions): Promise<{ supervisor: Supervisor; running: number }> {
  const supervisor = new Supervisor(options)
  try {
    return { supervisor, running: await supervisor.recover() }
  } catch (error) {
    await supervisor.close()
    throw error
  }
}

/** True when all have ended; a signal to leave ends the waiting. */
async function stopReplicas(supervisor: Supervisor, leave: AbortSignal): Promise<boolean> {
  try {
    await orAbort(supervisor.releaseAll({ drain: true }), leave)
    return true
  } catch (error) {
    if (leave.aborted) return false
    throw error
  }
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(path.join(import.meta.dirname, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  return manifest.version
}
