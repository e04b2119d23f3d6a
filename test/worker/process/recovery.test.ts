import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Assignment } from '../../../src/worker/assignment.ts'
import { assignmentOf, httpProbe, Supervision } from '../../support/drivers/supervision.ts'
import { freePort } from '../../support/fixtures/freePort.ts'
import { isRunning, kill, processesWith, program } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let supervision: Supervision
beforeEach(() => {
  supervision = new Supervision()
})
afterEach(async () => {
  await supervision.dispose()
})

/** The pids that the program has printed, one per start. */
function pidsOf(replica: string): number[] {
  const file = path.join(supervision.directory, 'replicas', replica, 'stdout.log')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number) : []
}

async function start(
  change: Partial<Assignment> = {},
): Promise<{ assignment: Assignment; replica: string; pid: number }> {
  const assignment = assignmentOf(change)
  supervision.supervisor.assign(assignment)
  const pid = await until(() => pidsOf(assignment.replica)[0], 'the program has printed its pid')
  return { assignment, replica: assignment.replica, pid }
}

function state(replica: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path.join(supervision.directory, 'replicas', replica, 'state.json'), 'utf8'))
}

test('a worker that starts again finds its replicas untouched, and reports them as they were', async () => {
  const port = await freePort()
  const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
  const web = assignmentOf({ command: program('http-server'), ports, readiness: httpProbe({ periodSeconds: 60 }) })
  supervision.supervisor.assign(web)
  await supervision.report(web.replica, { ready: true })
  const { replica, pid } = await start()
  expect(await supervision.reopen()).toBe(2)
  expect(pidsOf(replica)).toEqual([pid])
  expect(isRunning(pid)).toBe(true)
  const reports = supervision.supervisor.reports()
  expect(reports).toHaveLength(2)
  for (const report of reports) expect(report).toMatchObject({ state: 'RUNNING', ready: true, start: 1 })
})

test.each([
  ['its exit code', 'SIGTERM', { exitCode: null, exitSignal: 'TERM' }],
  ['that it was killed', 'SIGKILL', { exitCode: null, exitSignal: 'KILL' }],
] as const)('the end of an adopted replica is noticed, with %s', async (_what, signal, how) => {
  const { replica, pid } = await start({
    restart: { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 1, delaySeconds: 0 },
  })
  await supervision.reopen()
  kill(pid, signal)
  expect(await supervision.report(replica, { state: 'ENDED' })).toMatchObject({ endReason: 'EXITED', start: 1, ...how })
})

test('of an adopted replica whose whole session was killed the exit code is not known', async () => {
  const { replica } = await start({ restart: { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 1, delaySeconds: 0 } })
  const group = (state(replica)['process'] as { pid: number }).pid
  await supervision.reopen()
  process.kill(-group, 'SIGKILL')
  expect(await supervision.report(replica, { state: 'ENDED' })).toMatchObject({
    endReason: 'EXITED',
    exitCode: null,
    exitSignal: null,
  })
})

test('an adopted replica is stopped and restarted as any other', async () => {
  const { replica, pid, assignment } = await start()
  await supervision.reopen()
  kill(pid, 'SIGKILL')
  await supervision.report(replica, { state: 'RUNNING', start: 2 })
  await supervision.reopen()
  supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
  expect(await supervision.report(replica, { state: 'ENDED' })).toMatchObject({
    endReason: 'STOPPED',
    exitSignal: 'TERM',
    start: 2,
  })
})

test('what ended while no worker was there is known with its code, and told until it is not assigned any more', async () => {
  const { replica, pid } = await start({
    restart: { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 1, delaySeconds: 0 },
  })
  await supervision.supervisor.close()
  kill(pid, 'SIGTERM')
  // The exit's file is there a moment before the session's leader, who writes it, is gone.
  await until(() => processesWith(supervision.directory).length === 0, 'nothing is left of its session')
  expect(await supervision.reopen()).toBe(0)
  await supervision.report(replica, { state: 'ENDED', endReason: 'EXITED', exitSignal: 'TERM' })
  await supervision.reopen()
  expect(supervision.supervisor.reports()).toMatchObject([
    { replica, state: 'ENDED', endReason: 'EXITED', exitSignal: 'TERM' },
  ])
})

test('the limit of restarts in place counts over the restarts of the worker', async () => {
  const { replica, pid } = await start({
    restart: { mode: 'ALWAYS', maxAttempts: 1, windowSeconds: 600, delaySeconds: 0 },
  })
  kill(pid, 'SIGKILL')
  const second = await until(() => pidsOf(replica)[1], 'the second start')
  await supervision.reopen()
  kill(second, 'SIGKILL')
  expect(await supervision.report(replica, { state: 'ENDED' })).toMatchObject({ endReason: 'GAVE_UP', start: 2 })
})

test('a stop that the worker did not live to finish is finished', async () => {
  const stop = { signal: 'USR2', drainSeconds: 3_600, graceSeconds: 1, onLostContact: 'KEEP' as const }
  const { replica, pid, assignment } = await start({ stop })
  supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
  await until(() => state(replica)['stopping'], 'the stop is recorded')
  await supervision.supervisor.close()
  expect(isRunning(pid)).toBe(true)
  kill(pid, 'SIGKILL')
  await until(() => !isRunning(pid), 'it has ended')
  await supervision.reopen()
  expect(await supervision.report(replica, { state: 'ENDED' })).toMatchObject({ endReason: 'STOPPED' })
  expect(pidsOf(replica)).toEqual([pid])
})

test('a start that was decided on and never happened happens once, under the next number', async () => {
  const { replica, pid } = await start()
  await supervision.supervisor.close()
  kill(pid, 'SIGKILL')
  await until(() => !isRunning(pid), 'it has ended')
  const file = path.join(supervision.directory, 'replicas', replica, 'state.json')
  writeFileSync(file, JSON.stringify({ ...state(replica), start: 2, process: null }))
  await supervision.reopen()
  await supervision.report(replica, { state: 'RUNNING', start: 3 })
  await until(() => pidsOf(replica).length === 2, 'it runs')
})

test('a process that started in the moment its worker was killed, before it was recorded, is adopted', async () => {
  const { replica, pid } = await start()
  await supervision.supervisor.close()
  const file = path.join(supervision.directory, 'replicas', replica, 'state.json')
  writeFileSync(file, JSON.stringify({ ...state(replica), process: null, ready: false }))
  expect(await supervision.reopen()).toBe(1)
  expect(pidsOf(replica)).toEqual([pid])
})

test('what runs and no record knows is killed; what is recorded of another start of the machine is forgotten', async () => {
  const [stray, old] = [await start(), await start()]
  await supervision.supervisor.close()
  writeFileSync(path.join(supervision.directory, 'replicas', stray.replica, 'state.json'), 'not JSON')
  const file = path.join(supervision.directory, 'replicas', old.replica, 'state.json')
  writeFileSync(file, JSON.stringify({ ...state(old.replica), bootId: 'another' }))
  expect(await supervision.reopen()).toBe(0)
  expect(supervision.supervisor.reports()).toEqual([])
  expect(processesWith(supervision.directory)).toEqual([])
})

test('a replica whose directory somebody removes goes on; its records are written anew, so that the next worker knows it', async () => {
  const { replica, pid } = await start()
  rmSync(path.join(supervision.directory, 'replicas', replica), { recursive: true })
  rmSync(path.join(supervision.directory, 'exits'), { recursive: true })
  const recorded = () => existsSync(path.join(supervision.directory, 'replicas', replica, 'assignment.json'))
  await until(recorded, 'it is recorded again')
  expect(supervision.log).toEqual([
    expect.objectContaining({ replica, msg: expect.stringMatching(/was gone and is made again; the replica goes on/) }),
  ])
  expect(isRunning(pid)).toBe(true)
  expect(await supervision.reopen()).toBe(1)
  expect(isRunning(pid)).toBe(true)
  // Started again in place, it is told, and its output is kept.
  rmSync(path.join(supervision.directory, 'replicas', replica), { recursive: true })
  kill(pid, 'SIGKILL')
  await supervision.report(replica, { state: 'RUNNING', start: 2 })
  await until(() => pidsOf(replica).length === 1, 'it prints')
})

test('a replica whose directory is gone and can’t be made again goes on; that is said once, and that it could be made in the end', async () => {
  const { replica, pid } = await start()
  const directory = path.join(supervision.directory, 'replicas', replica)
  const said = () => supervision.log.filter(({ msg }) => msg.startsWith('the directory of a replica'))
  rmSync(directory, { recursive: true })
  // Where a file is no directory can be made.
  writeFileSync(directory, '')
  await until(() => said().length > 0, 'it is said')
  rmSync(directory)
  await until(() => existsSync(path.join(directory, 'assignment.json')), 'it is recorded again')
  expect(said().map(({ msg }) => msg)).toEqual([
    'the directory of a replica is gone and could not be made again; the replica goes on',
    expect.stringMatching(/was gone and is made again/),
  ])
  expect(isRunning(pid)).toBe(true)
})
