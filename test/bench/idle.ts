// What a worker's supervision costs while its replicas do nothing, now and by the way before, in one run: npm run bench:idle
// The way before opened both logs of each replica every 2 s, and read each adopted process's line in the process table every second.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import type { Report } from '../../src/worker/assignment.ts'
import { isAlive } from '../../src/worker/machine/processTable.ts'
import { Supervisor } from '../../src/worker/process/supervisor.ts'
import { assignmentOf } from '../support/drivers/supervision.ts'
import { until } from '../support/fixtures/until.ts'

const replicas = Number(process.env['REPLICAS'] ?? 200)
const seconds = Number(process.env['SECONDS'] ?? 20)
/** After a start each replica is looked after until its logs have not grown for 2 s. */
const settleSeconds = 8
/** Goals: a worker whose replicas do nothing costs at most this much more than one without replicas. */
const mostMillis = 1
const mostSwitches = 20

interface Cost {
  readonly millis: number
  readonly switches: number
}

async function measure(name: string): Promise<Cost> {
  await wait(settleSeconds * 1_000)
  const before = process.resourceUsage()
  await wait(seconds * 1_000)
  const after = process.resourceUsage()
  const sum = ({ userCPUTime, systemCPUTime }: NodeJS.ResourceUsage) => (userCPUTime + systemCPUTime) / 1_000
  const switches = (usage: NodeJS.ResourceUsage) => usage.voluntaryContextSwitches + usage.involuntaryContextSwitches
  const cost = {
    millis: (sum(after) - sum(before)) / seconds,
    switches: (switches(after) - switches(before)) / seconds,
  }
  console.log(`${name.padEnd(44)} ${cost.millis.toFixed(2).padStart(8)} ${cost.switches.toFixed(0).padStart(10)}`)
  return cost
}

const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'xce-idle-')))
const reports = new Map<string, Report>()
function openSupervisor(): Supervisor {
  return new Supervisor({
    stateDirectory: directory,
    hostAddress: null,
    cgroups: null,
    log: pino({ level: 'warn' }),
    onReport: (report) => void reports.set(report.replica, report),
  })
}

/** Runs what the earlier way did in addition, until it is stopped. */
function asBefore(work: () => Promise<void> | void, millis: number): NodeJS.Timeout {
  return setInterval(() => void work(), millis)
}

async function openLogs(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    for (const stream of ['stdout', 'stderr']) {
      const handle = await open(path.join(directory, 'replicas', id, `${stream}.log`), 'r')
      await handle.stat()
      await handle.close()
    }
  }
}

let supervisor = openSupervisor()
try {
  console.log(`${replicas} replicas that do nothing, ${seconds} s each`.padEnd(44), '  CPU ms/s switches/s')
  const none = await measure('no replicas')
  const ids = Array.from({ length: replicas }, () => {
    const assignment = assignmentOf({ command: ['sleep', '100000'] })
    supervisor.assign(assignment)
    return assignment.replica
  })
  await until(() => ids.every((id) => reports.get(id)?.state === 'RUNNING'), 'all run', 120_000)
  const started = await measure('started by this worker')
  const logs = asBefore(() => openLogs(ids), 2_000)
  await measure('started by this worker, as before')
  clearInterval(logs)

  await supervisor.close()
  supervisor = openSupervisor()
  await supervisor.recover()
  const adopted = await measure('adopted')
  const processes = ids.map((id) => {
    const state = readFileSync(path.join(directory, 'replicas', id, 'state.json'), 'utf8')
    return (JSON.parse(state) as { process: { pid: number; startTicks: number } }).process
  })
  const both = [
    asBefore(() => openLogs(ids), 2_000),
    asBefore(() => {
      for (const { pid, startTicks } of processes) isAlive(pid, startTicks)
    }, 1_000),
  ]
  await measure('adopted, as before')
  for (const timer of both) clearInterval(timer)

  for (const [name, { millis, switches }] of Object.entries({ started, adopted })) {
    if (millis - none.millis <= mostMillis && switches - none.switches <= mostSwitches) continue
    console.error(`MISSED: replicas that were ${name} cost more than ${mostMillis} ms/s or ${mostSwitches} switches/s.`)
    process.exitCode = 1
  }
} finally {
  await supervisor.releaseAll({ drain: false })
  await supervisor.close()
  rmSync(directory, { recursive: true })
}
