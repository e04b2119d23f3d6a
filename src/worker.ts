import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { orAbort } from './worker/abort.ts'
import { openCgroups } from './worker/cgroup.ts'
import { Link } from './worker/link.ts'
import { lockStateDirectory, StateDirectoryInUseError } from './worker/lock.ts'
import { openLogger } from './worker/logger.ts'
import { Outbox } from './worker/outbox.ts'
import { readSettings, settingsHelp, type WorkerSettings } from './worker/settings.ts'
import { Supervisor } from './worker/supervisor.ts'

const help = `The worker of XCE Services: runs replicas on this host for the servers it is connected to.

Usage: worker [--help]

Settings, by environment:
${settingsHelp.map(([name, does]) => `  ${name.padEnd(26)} ${does}`).join('\n')}

Signals:
  SIGTERM, SIGINT, SIGHUP    end; the replicas run on, and the next worker with this state directory finds them
  SIGUSR2                    disconnect, stop all replicas by their stop policies, forget them, end
`

process.exitCode = await main()

async function main(): Promise<number> {
  if (askedForHelp()) {
    process.stdout.write(help)
    return 0
  }
  const read = readSettings(process.env)
  if ('faults' in read) {
    for (const fault of read.faults) console.error(fault)
    return 1
  }
  // Before the lock: whoever sees that this worker has it may send it a signal.
  const ends = heedSignals()
  try {
    // Held until the process has ended: who waits for the lock waits for that.
    await lockStateDirectory(read.settings.stateDirectory)
    await work(read.settings, ends)
    return 0
  } catch (error) {
    if (!(error instanceof StateDirectoryInUseError)) throw error
    console.error(error.message)
    return 1
  }
}

function askedForHelp(): boolean {
  return parseArgs({ options: { help: { type: 'boolean', short: 'h' } } }).values.help === true
}

interface Ends {
  readonly leave: AbortSignal
  readonly stopAll: AbortSignal
}

function heedSignals(): Ends {
  const leave = new AbortController()
  const stopAll = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => leave.abort())
  process.on('SIGUSR2', () => stopAll.abort())
  return { leave: leave.signal, stopAll: stopAll.signal }
}

/** Resolves when a signal has ended it. */
async function work(settings: WorkerSettings, { leave, stopAll }: Ends): Promise<void> {
  const log = openLogger(process.env, process.stdout.isTTY)
  const cgroups = openCgroups()
  if (typeof cgroups === 'string') log.info(cgroups)
  const { stateDirectory, addresses } = settings
  const outbox = new Outbox()
  const supervisor = new Supervisor({
    ...{ stateDirectory, log, hostAddress: addresses[0] ?? null },
    cgroups: typeof cgroups === 'string' ? null : cgroups,
    onReport: (report) => outbox.put(report),
  })
  const running = await supervisor.recover()
  log.info({ stateDirectory, pid: process.pid, running }, 'the worker runs')
  const signal = AbortSignal.any([leave, stopAll])
  await new Link({ settings, softwareVersion: readVersion(), supervisor, outbox, log, signal }).run()
  const stopped = stopAll.aborted && (await stopReplicas(supervisor, leave))
  await supervisor.close()
  log.info(stopped ? 'the worker ends; its replicas are stopped' : 'the worker ends; its replicas run on')
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
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return manifest.version
}
