import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { readStat } from '../../../src/worker/machine/processTable.ts'
import { assignmentOf, httpProbe, Supervision } from '../../support/drivers/supervision.ts'
import { freePort } from '../../support/fixtures/freePort.ts'
import { listenOn } from '../../support/fixtures/listenOn.ts'
import { linesIn, readLog } from '../../support/fixtures/logAnswers.ts'
import { isRunning, kill, processesWith, program } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let supervision: Supervision
beforeEach(() => {
  supervision = new Supervision()
})
afterEach(async () => {
  await supervision.dispose()
})

function fetchJson(
  port: number,
  url: string,
): Promise<{ pid: number; env: Record<string, string>; directory: string }> {
  return new Promise((resolve, reject) => {
    get({ port, path: url, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => resolve(JSON.parse(text)))
    }).on('error', reject)
  })
}

function logOf(replica: string, stream: 'stdout' | 'stderr'): string {
  const file = path.join(supervision.directory, 'replicas', replica, `${stream}.log`)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** The pid that test/program/runs prints, of its nth start. */
function pidOf(replica: string, start = 1): Promise<number> {
  return until(
    () => Number(logOf(replica, 'stdout').split('\n').slice(0, -1)[start - 1]) || null,
    'the program has printed its pid',
  )
}

describe('a start', () => {
  test('confirms the process, and without a readiness probe it is ready with that', async () => {
    const assignment = assignmentOf()
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { state: 'RUNNING', ready: true, start: 1 })
    expect(supervision.story(assignment.replica)).toEqual(['1 STARTING', '1 RUNNING ready'])
    supervision.supervisor.assign(assignment)
    expect(supervision.story(assignment.replica)).toHaveLength(2)
  })

  test('gives the environment of R13, which user variables cannot override, and nothing of the worker', async () => {
    const port = await freePort()
    process.env['XCE_WORKER_TOKEN_FILE'] = '/secret'
    onTestFinished(() => void delete process.env['XCE_WORKER_TOKEN_FILE'])
    const assignment = assignmentOf({
      command: program('http-server'),
      index: 4,
      versionNumber: 7,
      ports: [{ name: 'http-api', port, protocol: 'TCP' }],
      readiness: httpProbe({ action: { kind: 'tcp', port: 'http-api' } }),
      env: [
        { name: 'XCE_VERSION', value: 'mine' },
        { name: 'PORT', value: '1' },
        { name: 'stat', value: 'kept' },
        { name: 'spring.profiles.active', value: "it's a\ntest" },
      ],
    })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { ready: true })
    const { env, directory } = await fetchJson(port, '/env')
    expect(env).toMatchObject({
      PORT: String(port),
      XCE_PORT_HTTP_API: String(port),
      XCE_HOST_ADDRESS: '127.0.0.1',
      XCE_PROJECT: 'default',
      XCE_SERVICE: 'web',
      XCE_REPLICA_INDEX: '4',
      XCE_REPLICA_ID: assignment.replica,
      XCE_REPLICA_DIRECTORY: directory,
      XCE_VERSION: '7',
      stat: 'kept',
      'spring.profiles.active': "it's a\ntest",
      PATH: process.env['PATH'],
    })
    const allowed =
      /^(PATH|HOME|LANG|LANGUAGE|LC_.*|TMPDIR|TZ|USER|LOGNAME|SHELL|PORT|PWD|stat|spring.profiles.active|XCE_(PORT_HTTP_API|HOST_ADDRESS|PROJECT|SERVICE|REPLICA_INDEX|REPLICA_ID|REPLICA_DIRECTORY|VERSION))$/
    expect(Object.keys(env).filter((name) => !allowed.test(name))).toEqual([])
    expect(directory).toBe(path.join(supervision.directory, 'homes', assignment.replica))
    expect([env['HOME'], env['TMPDIR']]).toEqual([directory, directory])
  })

  test.each([
    [['no-such-program'], {}, /"no-such-program" was not found in PATH/],
    [['/no/such/program'], {}, /there is no \/no\/such\/program/],
    [['/etc/passwd'], {}, /not executable/],
    [['/tmp'], {}, /is not a file/],
    [['exit'], {}, /"exit" was not found in PATH/],
    [['node'], { workingDirectory: '/no/such/directory' }, /working directory \/no\/such\/directory does not exist/],
  ])('of %j with %j is START_FAILED with the reason, and is not tried again', async (command, change, reason) => {
    const assignment = assignmentOf({ command, ...change })
    supervision.supervisor.assign(assignment)
    const { message } = await supervision.report(assignment.replica, { state: 'ENDED', endReason: 'START_FAILED' })
    expect(message).toMatch(reason)
    expect(supervision.story(assignment.replica)).toEqual(['1 STARTING', '1 START_FAILED'])
  })

  test('on a port that somebody has is PORT_TAKEN, and the message names the port', async () => {
    const port = await freePort()
    const close = await listenOn(port)
    const other = { name: 'admin', port: await freePort(), protocol: 'TCP' as const }
    const assignment = assignmentOf({ ports: [{ name: 'http', port, protocol: 'TCP' }, other] })
    supervision.supervisor.assign(assignment)
    const { message, takenPorts } = await supervision.report(assignment.replica, {
      state: 'ENDED',
      endReason: 'PORT_TAKEN',
    })
    expect(message).toContain(`"http" (TCP ${port})`)
    expect(takenPorts).toEqual(['http'])
    await close()
    // Placed anew, and here again, with another port.
    const again = { ...assignment, ports: [{ name: 'http', port: await freePort(), protocol: 'TCP' as const }, other] }
    supervision.supervisor.assign(again)
    await supervision.report(assignment.replica, { state: 'RUNNING', start: 1 })
  })

  test.each([
    ['before it was ready, and may not be restarted', 'exit 3', 0, { start: 1, exitCode: 3 }],
    ['after it was ready, before its restart in place', 'true', 3, { start: 2, exitCode: null }],
  ])('whose process loses its port %s is PORT_TAKEN at once', async (_, ready, maxAttempts, end) => {
    const port = await freePort()
    const flag = path.join(supervision.directory, 'taken')
    const assignment = assignmentOf({
      command: ['sh', '-c', `while [ ! -f "${flag}" ]; do sleep 0.01; done; exit 3`],
      ports: [{ name: 'http', port, protocol: 'TCP' }],
      readiness: httpProbe({ action: { kind: 'exec', command: ['sh', '-c', ready] } }),
      restart: { mode: 'ALWAYS', maxAttempts, windowSeconds: 600, delaySeconds: 0 },
    })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { state: 'RUNNING', ready: ready === 'true' })
    const close = await listenOn(port)
    writeFileSync(flag, '')
    const report = await supervision.report(assignment.replica, { state: 'ENDED' })
    expect(report).toMatchObject({ endReason: 'PORT_TAKEN', takenPorts: ['http'], ...end })
    expect(report.message).toContain(`TCP ${port}`)
    await close()
  })
})

describe('an end', () => {
  test.each([
    [0, 'EXITED'],
    [3, 'EXITED'],
  ])('with code %i and no restarts in place is %s', async (code, endReason) => {
    const restart = { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 600, delaySeconds: 0 } as const
    const assignment = assignmentOf({ command: program('exits-at-once', String(code)), restart })
    supervision.supervisor.assign(assignment)
    const report = await supervision.report(assignment.replica, { state: 'ENDED' })
    expect(report).toMatchObject({ endReason, exitCode: code, exitSignal: null, start: 1, ready: false })
  })

  test('is restarted in place by the policy, each time as another start that is not ready first, and then given up', async () => {
    const assignment = assignmentOf({
      command: program('exits-at-once', '5'),
      restart: { mode: 'ALWAYS', maxAttempts: 2, windowSeconds: 600, delaySeconds: 0 },
    })
    supervision.supervisor.assign(assignment)
    const report = await supervision.report(assignment.replica, { state: 'ENDED' })
    expect(report).toMatchObject({ endReason: 'GAVE_UP', exitCode: 5, start: 3 })
    expect(supervision.story(assignment.replica)).toEqual([
      '1 STARTING',
      '1 RUNNING ready',
      '2 STARTING',
      '2 RUNNING ready',
      '3 STARTING',
      '3 RUNNING ready',
      '3 GAVE_UP',
    ])
  })

  test('by SIGKILL says so in what is reported of the next start', async () => {
    const assignment = assignmentOf()
    supervision.supervisor.assign(assignment)
    const pid = await pidOf(assignment.replica)
    kill(pid, 'SIGKILL')
    const { message } = await supervision.report(assignment.replica, { state: 'RUNNING', start: 2 })
    expect(message).toBe('The process was ended by SIGKILL.')
    expect(await pidOf(assignment.replica, 2)).not.toBe(pid)
  })

  test('takes grandchildren with it, before the next start', async () => {
    const assignment = assignmentOf({ command: program('forks-child') })
    supervision.supervisor.assign(assignment)
    const pids = await until(() => {
      const found = [...logOf(assignment.replica, 'stdout').matchAll(/(?:same|other) (\d+)\n/g)].map(([, pid]) =>
        Number(pid),
      )
      return found.length === 2 ? found : null
    }, 'the grandchildren')
    const main = processesWith(assignment.replica).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(process.execPath),
    )
    kill(main, 'SIGKILL')
    await supervision.report(assignment.replica, { state: 'RUNNING', start: 2 })
    expect(pids.filter(isRunning)).toEqual([])
  })
})

describe('a stop', () => {
  test('sends the signal, takes the exit code, and says STOPPED', async () => {
    const port = await freePort()
    const assignment = assignmentOf({
      command: program('http-server'),
      ports: [{ name: 'http', port, protocol: 'TCP' }],
      readiness: httpProbe(),
    })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { ready: true })
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    const report = await supervision.report(assignment.replica, { state: 'ENDED' })
    expect(report).toMatchObject({ endReason: 'STOPPED', exitCode: 0, exitSignal: null })
  })

  test('kills the whole session after the grace, also what has left the process group', async () => {
    const stop = { signal: 'TERM', drainSeconds: 0, graceSeconds: 1, onLostContact: 'KEEP' as const }
    const script = "trap '' TERM; sleep 1000 & set -m; sleep 1000 & echo both; while :; do wait; done"
    const assignment = assignmentOf({ command: ['bash', '-c', script], stop })
    supervision.supervisor.assign(assignment)
    await until(() => logOf(assignment.replica, 'stdout') === 'both\n', 'the grandchildren')
    // At the moment in which a process executes its program, its environment cannot be read.
    const groups = () => new Set(processesWith(assignment.replica).map((pid) => readStat(pid)?.group))
    await until(() => groups().size === 2, 'one of them is in another group')
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    const report = await supervision.report(assignment.replica, { state: 'ENDED' })
    expect(report).toMatchObject({ endReason: 'STOPPED', exitSignal: 'KILL' })
    expect(processesWith(assignment.replica)).toEqual([])
  })

  test('waits for the drain when it was ready: it serves on meanwhile', async () => {
    const port = await freePort()
    const stop = { signal: 'TERM', drainSeconds: 1, graceSeconds: 5, onLostContact: 'KEEP' as const }
    const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
    const assignment = assignmentOf({ command: program('http-server'), ports, readiness: httpProbe(), stop })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { ready: true })
    const began = performance.now()
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    expect((await fetchJson(port, '/')).pid).toBeGreaterThan(0)
    await supervision.report(assignment.replica, { state: 'ENDED', endReason: 'STOPPED' })
    expect(performance.now() - began).toBeGreaterThan(990)
  })

  test('by the signal KILL is no secret: the line that started it still tells how it ended', async () => {
    const stop = { signal: 'KILL', drainSeconds: 0, graceSeconds: 3_600, onLostContact: 'KEEP' as const }
    const assignment = assignmentOf({ stop })
    supervision.supervisor.assign(assignment)
    await pidOf(assignment.replica)
    await supervision.reopen()
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    expect(await supervision.report(assignment.replica, { state: 'ENDED' })).toMatchObject({
      endReason: 'STOPPED',
      exitSignal: 'KILL',
    })
  })

  test('does not wait for the drain when it was not ready', async () => {
    const port = await freePort()
    const stop = { signal: 'TERM', drainSeconds: 3_600, graceSeconds: 5, onLostContact: 'KEEP' as const }
    const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
    const assignment = assignmentOf({ command: program('runs'), ports, readiness: httpProbe(), stop })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { state: 'RUNNING' })
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    await supervision.report(assignment.replica, { state: 'ENDED', endReason: 'STOPPED' })
  })

  test('during the delay of a restart in place ends it there', async () => {
    const restart = { mode: 'ALWAYS', maxAttempts: 5, windowSeconds: 600, delaySeconds: 3_600 } as const
    const assignment = assignmentOf({ command: program('exits-at-once', '9'), restart })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { state: 'STARTING', start: 3 })
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    expect(await supervision.report(assignment.replica, { state: 'ENDED' })).toMatchObject({
      endReason: 'STOPPED',
      exitCode: 9,
    })
  })

  test('before its process started, and of one that was never here', async () => {
    const early = assignmentOf()
    supervision.supervisor.assign(early)
    supervision.supervisor.assign({ ...early, goal: 'STOP' })
    expect((await supervision.report(early.replica, { state: 'ENDED' })).endReason).toBe('STOPPED')
    expect(supervision.story(early.replica)).toEqual(['1 STARTING', '1 STOPPED'])
    const unknown = assignmentOf({ goal: 'STOP' })
    supervision.supervisor.assign(unknown)
    expect(supervision.story(unknown.replica)).toEqual(['1 STOPPED'])
  })

  test('of what runs on other ports than it is assigned: it starts anew on those', async () => {
    const [port, other] = [await freePort(), await freePort()]
    const on = (number: number) => [{ name: 'http', port: number, protocol: 'TCP' as const }]
    const assignment = assignmentOf({ ports: on(port) })
    const { supervisor } = supervision
    supervisor.assign(assignment)
    await supervision.report(assignment.replica, { state: 'RUNNING' })
    const moved = { ...assignment, ports: on(other) }
    supervisor.assign(moved)
    supervisor.assign(moved)
    await until(
      () => supervisor.reports().some(({ state, ports }) => state === 'RUNNING' && ports.includes(other)),
      'it runs there',
    )
    const ports = supervision.reports.map(
      (report) => `${report.endReason ?? report.state} ${report.ports.includes(port) ? 'before' : 'after'}`,
    )
    expect(ports).toEqual(['STARTING before', 'RUNNING before', 'STOPPED before', 'STARTING after', 'RUNNING after'])
    // Asked to stop what it has never started: that is told of the ports that are asked for.
    supervisor.assign({ ...assignment, goal: 'STOP' })
    await until(
      () => supervision.reports.at(-1)?.ports.includes(port) && supervision.reports.at(-1)?.state === 'ENDED',
      'it is told',
    )
    expect(supervisor.reports()).toEqual([])
  })

  test('of what is not assigned any more, and then assigned after all: it starts anew', async () => {
    const assignment = assignmentOf()
    supervision.supervisor.assign(assignment)
    const before = await pidOf(assignment.replica)
    supervision.supervisor.release(assignment.replica, { drain: false })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { state: 'ENDED', endReason: 'STOPPED' })
    await until(() => supervision.supervisor.reports().some(({ state }) => state === 'RUNNING'), 'it runs again')
    expect(isRunning(before)).toBe(false)
  })

  test('of what is not assigned any more, and then it is forgotten; its end is told as long as it is assigned', async () => {
    const [kept, gone] = [assignmentOf(), assignmentOf()]
    supervision.supervisor.assign(kept)
    supervision.supervisor.assign(gone)
    await pidOf(gone.replica)
    supervision.supervisor.releaseAllBut(new Set([kept.replica]))
    await supervision.report(gone.replica, { state: 'ENDED', endReason: 'STOPPED' })
    await until(() => supervision.supervisor.reports().length === 1, 'it is forgotten')
    expect(supervision.supervisor.reports()).toMatchObject([{ replica: kept.replica, state: 'RUNNING' }])
    supervision.supervisor.assign({ ...kept, goal: 'STOP' })
    await supervision.report(kept.replica, { state: 'ENDED' })
    supervision.supervisor.assign({ ...kept, goal: 'STOP' })
    expect(supervision.story(kept.replica).filter((said) => said === '1 STOPPED')).toHaveLength(2)
    expect(linesIn(await readLog(supervision.supervisor, gone.replica))).toHaveLength(1)
  })
})
