import { readFileSync } from 'node:fs'
import path from 'node:path'
import { orAbort } from './worker/abort.ts'
import { DrainProgress, watchDrain } from './worker/drain/drainProgress.ts'
import { holderOf, lockStateDirectory, StateDirectoryInUseError } from './worker/files/lock.ts'
import { stateDirectoryIdOf } from './worker/files/stateDirectoryId.ts'
import { openCgroups } from './worker/machine/cgroup.ts'
import { WorkerParts, type WorkerPartsOptions } from './worker/parts/workerParts.ts'
import type { Supervisor } from './worker/process/supervisor.ts'
import { readCommandLine, settingsText } from './worker/settings/commandLine.ts'
import { keepLogSmall, openLogger } from './worker/settings/logger.ts'
import { readWorkerSettings, stateDirectoryOf, type WorkerSettings } from './worker/settings/settings.ts'
import { UnusableError, withRemedy } from './worker/withRemedy.ts'

const help = `The worker of XCE Services runs replicas on this host for the servers to which it is connected.

Usage: xce-worker [options]

  --drain
      Move all replicas to other workers, then end. This asks the worker that uses the state directory; if none does, this worker starts and drains.
  -h, --help
      Print this text.

Settings, which are options and environment variables:
${settingsText}

Signals:
  SIGTERM, SIGINT, SIGHUP    The worker ends. The replicas run on, and the next worker with this state directory finds them.
  SIGQUIT                    The worker moves all replicas to other workers, then ends, as with --drain.
  SIGUSR2                    The worker reports that no replica is ready any more, disconnects, stops all replicas by their stop policies,
                             forgets them, and ends.
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
  // To drain a running worker only the state directory is needed, so other faults don't matter yet.
  if ('faults' in read && !line.drain) return refuse(read.faults)
  const stateDirectory = stateDirectoryOf(environment)
  // Signals are handled before the lock is taken, because whoever sees the lock may send a signal.
  const signals = handleSignals()
  const drainAt = (holder: number) =>
    watchDrain(stateDirectory, holder, signals.leave, (progress) => console.log(progress))
  const withStateDirectory = <T>(use: () => Promise<T>) =>
    withRemedy(
      `The state directory ${stateDirectory}`,
      `correct that, ${line.drain ? 'run --drain as the user whose worker runs there, ' : ''}or choose another with --state-dir`,
      use,
    )
  try {
    if ('faults' in read) {
      const holder = await withStateDirectory(() => holderOf(stateDirectory))
      if (holder !== null) return await drainAt(holder)
      return refuse([
        `No worker runs on the state directory ${stateDirectory}: see --state-dir. To start one that drains:`,
        ...read.faults,
      ])
    }
    // The lock is held until the process has ended, so that waiting for the lock is waiting for the end.
    await withStateDirectory(() => lockStateDirectory(stateDirectory))
    await runWorker(read.settings, signals, line.drain)
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
  /** The listener is called at each signal, and at once when a signal came before. */
  onDrain: (listener: () => void) => void
}

function handleSignals(): Signals {
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

/** Runs the worker until a signal or the end of a drain ends it. */
async function runWorker(
  settings: WorkerSettings,
  { leave, stopAll, onDrain }: Signals,
  drains: boolean,
): Promise<void> {
  const { stateDirectory, logFile } = settings
  const log = await withRemedy(`The log file ${logFile}`, 'correct that, or choose another with --log-file', () =>
    openLogger({ level: settings.logLevel, format: settings.logFormat, file: logFile, terminal: process.stdout.isTTY }),
  )
  if (logFile !== null) keepLogSmall(logFile, log)
  const cgroups = openCgroups()
  if (typeof cgroups === 'string') log.info(cgroups)
  const progress = new DrainProgress(stateDirectory)
  const { stateDirectoryId, parts, running } = await withRemedy(
    `The state directory ${stateDirectory}`,
    'correct that, or choose another with --state-dir',
    async () => ({
      stateDirectoryId: stateDirectoryIdOf(stateDirectory),
      ...(await startParts({
        settings,
        cgroups: typeof cgroups === 'string' ? null : cgroups,
        log,
        onProgress: (sentence) => progress.write(sentence),
      })),
    }),
  )
  log.info({ stateDirectory, pid: process.pid, running }, 'the worker runs')
  const { supervisor, drain } = parts
  if (drains) drain.request()
  onDrain(() => drain.request())
  const retired = new AbortController()
  const signal = AbortSignal.any([leave, retired.signal, drain.done])
  const link = parts.link(signal, { softwareVersion: readVersion(), stateDirectoryId })
  const retire = () => void link.retire().then(() => retired.abort())
  if (stopAll.aborted) retire()
  stopAll.addEventListener('abort', retire)
  await link.run()
  parts.closePortWatch()
  const stopped = stopAll.aborted && (await stopReplicas(supervisor, leave))
  if (drain.done.aborted || stopped) await link.sayEnd()
  await supervisor.close()
  if (drain.done.aborted) progress.writeDone()
  log.info(
    `the worker ends; ${drain.done.aborted ? 'its replicas have moved' : stopped ? 'its replicas are stopped' : 'its replicas run on'}`,
  )
}

/** Makes the parts and takes over the replicas that earlier workers left running. */
async function startParts(options: WorkerPartsOptions): Promise<{ parts: WorkerParts; running: number }> {
  const parts = new WorkerParts(options)
  try {
    return { parts, running: await parts.supervisor.recover() }
  } catch (error) {
    await parts.supervisor.close()
    throw error
  }
}

/** Resolves with whether all replicas have ended; a signal to leave ends the waiting. */
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
