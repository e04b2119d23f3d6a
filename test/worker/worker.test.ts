import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { logBytes } from '../../src/worker/files/logBounds.ts'
import { readCommandLine } from '../../src/worker/settings/commandLine.ts'
import { assignmentOf, httpProbe } from '../support/drivers/supervision.ts'
import { WorkerServer } from '../support/drivers/workerServer.ts'
import { built } from '../support/fixtures/built.ts'
import { freePort } from '../support/fixtures/freePort.ts'
import {
  endProcessesWith,
  expectNothingLeft,
  isRunning,
  kill,
  processesWith,
  program,
} from '../support/fixtures/processes.ts'
import { SmallDisk } from '../support/fixtures/smallDisk.ts'
import { until } from '../support/fixtures/until.ts'

interface Program {
  readonly child: ChildProcess
  readonly ended: Promise<number | NodeJS.Signals | null>
  readonly output: () => string
}

let directory: string
let server: WorkerServer
let programs: Program[] = []

beforeEach(async () => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'xce-program-')))
  server = new WorkerServer()
  await server.start()
  writeFileSync(path.join(directory, 'token'), server.token)
  writeFileSync(path.join(directory, 'server-url'), server.url)
})
afterEach(async () => {
  for (const { child } of programs) child.kill('SIGKILL')
  await Promise.all(programs.map(({ ended }) => ended))
  programs = []
  await server.stop()
  await endProcessesWith(directory)
  await expectNothingLeft()
  rmSync(directory, { recursive: true })
})

function run(change: Record<string, string> = {}, ...words: string[]): Program {
  const env = {
    PATH: process.env['PATH'] ?? '',
    XCE_WORKER_SERVER_FILE: path.join(directory, 'server-url'),
    XCE_WORKER_TOKEN_FILE: path.join(directory, 'token'),
    XCE_WORKER_STATE_DIR: path.join(directory, 'state'),
    XCE_WORKER_NAME: 'worker-1',
    XCE_WORKER_HOST: 'host-1',
    XCE_WORKER_ADDRESSES: '127.0.0.1',
    ...change,
  }
  const child = spawn(process.execPath, [built('worker.js'), ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part
    })
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? signal)),
  )
  const started = { child, ended, output: () => output }
  programs.push(started)
  return started
}

function followed(registrations: number): Promise<unknown> {
  return until(
    () => server.registrations.length === registrations && server.followers === 1,
    `registration ${registrations}`,
  )
}

async function runningReplica(state = path.join(directory, 'state')): Promise<{ replica: string; pid: number }> {
  const { replica } = await assigned({ restart: { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 1, delaySeconds: 0 } })
  const file = path.join(state, 'replicas', replica, 'stdout.log')
  return {
    replica,
    pid: await until(
      () => (existsSync(file) ? Number(readFileSync(file, 'utf8')) || null : null),
      'it has printed its pid',
    ),
  }
}

async function assigned(change: Parameters<typeof assignmentOf>[0]): Promise<{ replica: string }> {
  const assignment = assignmentOf(change)
  server.assign(assignment)
  await until(() => server.reported(assignment.replica)?.state === 'RUNNING', 'it runs')
  return assignment
}

test('--help prints every setting', async () => {
  const { ended, output } = run({}, '--help')
  expect(await ended).toBe(0)
  const names = ['settings.ts', 'offerSettings.ts'].flatMap((file) => {
    const source = readFileSync(new URL(`../../src/worker/settings/${file}`, import.meta.url), 'utf8')
    return source.match(/XCE_WORKER_[A-Z_]+[A-Z]/g) ?? []
  })
  expect(new Set(names).size).toBeGreaterThan(10)
  for (const name of names) expect(output()).toContain(name)
})

test('the package’s bin is executable as it is checked out, and is the worker', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    bin: Record<string, string>
  }
  const bin = fileURLToPath(new URL(`../../${manifest.bin['xce-worker']}`, import.meta.url))
  expect(execFileSync(bin, ['--help'], { encoding: 'utf8' })).toMatch(/^The worker of XCE Services runs replicas/)
})

test('a mistake in the settings is a sentence and status 1', async () => {
  const { ended, output } = run({ XCE_WORKER_CPU_MILLIS: 'many', XCE_WORKER_PORT_RANGE: '9-1' })
  expect(await ended).toBe(1)
  expect(output().trim().split('\n')).toEqual([
    'XCE_WORKER_CPU_MILLIS is "many": give a whole number from 1 to 1024000.',
    expect.stringContaining('XCE_WORKER_PORT_RANGE is "9-1"'),
  ])
})

test.each([
  ['token', 'XCE_WORKER_TOKEN_FILE'],
  ['server-url', 'XCE_WORKER_SERVER_FILE'],
])('a file that is not there yet is told by its name and setting, and waited for: %s', async (name, setting) => {
  const file = path.join(directory, name)
  const held = readFileSync(file, 'utf8')
  rmSync(file)
  const { output } = run()
  await until(
    () => output().includes(`not connected: The file ${file} (${setting}) can't be read: ENOENT.`),
    'it is told',
  )
  writeFileSync(file, held)
  await followed(1)
})

test('every setting is an option too; what is none is a sentence', async () => {
  const first = run(
    { XCE_WORKER_HOST: '', XCE_WORKER_NAME: '' },
    '--host',
    'from-options',
    '--port-range=21000-21009',
    '--addresses',
    '::1',
  )
  await followed(1)
  expect(server.registrations[0]).toMatchObject({
    ...{ name: 'from-options', host: 'from-options', addresses: ['::1'] },
    portRange: { from: 21_000, to: 21_009 },
  })
  expect(first.child.exitCode).toBeNull()
  const wrong = run({}, '--hots', 'x')
  expect(await wrong.ended).toBe(1)
  expect(wrong.output()).toBe("Unknown option '--hots': see --help.\n")
})

test('started with --drain where no worker runs, it drains and ends; with nothing to move, at once', async () => {
  const { ended, output } = run({}, '--drain')
  expect(await ended).toBe(0)
  expect([server.drains, server.ends]).toEqual([1, 1])
  expect(output()).toContain('All replicas have moved.')
})

test('--drain where no worker runs, without the settings that one needs, says so and makes nothing', async () => {
  const state = path.join(directory, 'typo')
  const { ended, output } = run({ XCE_WORKER_TOKEN_FILE: '' }, '--drain', '--state-dir', state)
  expect(await ended).toBe(1)
  expect(output().split('\n')).toEqual([
    `No worker runs on the state directory ${state}: see --state-dir. To start one that drains:`,
    'XCE_WORKER_TOKEN_FILE is not set: give the file that holds the worker token.',
    '',
  ])
  expect(existsSync(state)).toBe(false)
})

test('--drain without any other setting reaches the worker that runs on the state directory', async () => {
  const worker = run()
  await followed(1)
  const { ended, output } = run({ XCE_WORKER_TOKEN_FILE: '', XCE_WORKER_SERVER_FILE: '' }, '--drain')
  expect(await ended).toBe(0)
  expect(output()).toContain(`The worker with process id ${worker.child.pid} has ended.`)
})

describe('what can’t be used is a sentence and status 1', () => {
  const refused = async (line: string, change: Record<string, string>, ...words: string[]) => {
    const { ended, output } = run(change, ...words)
    expect([await ended, output()]).toEqual([1, `${line}\n`])
  }

  test('a state directory', async () => {
    const state = path.join(directory, 'token', 'state')
    await refused(
      `The state directory ${state} can't be used (ENOTDIR: not a directory, mkdir '${state}'): correct that, or choose another with --state-dir.`,
      { XCE_WORKER_STATE_DIR: state },
    )
  })

  test('a log file', async () => {
    const log = path.join(directory, 'token', 'worker.log')
    await refused(
      `The log file ${log} can't be used (EEXIST: file already exists, mkdir '${path.dirname(log)}'): correct that, or choose another with --log-file.`,
      {},
      '--log-file',
      log,
    )
  })

  test('a state directory in which something is in the way', async () => {
    const replicas = path.join(directory, 'state', 'replicas')
    mkdirSync(path.dirname(replicas))
    writeFileSync(replicas, '')
    await refused(
      `The state directory ${path.dirname(replicas)} can't be used (EEXIST: file already exists, mkdir '${replicas}'): correct that, or choose another with --state-dir.`,
      { XCE_LOG_LEVEL: 'silent' },
    )
  })

  test('a full disk', async ({ skip }) => {
    const disk = SmallDisk.mount(1) ?? skip('a disk can’t be mounted here')
    try {
      disk.fill()
      await refused(
        `The state directory ${disk.directory} can't be used (ENOSPC: no space left on device, write): correct that, or choose another with --state-dir.`,
        { XCE_WORKER_STATE_DIR: disk.directory },
      )
    } finally {
      await disk.unmount()
    }
  })

  test('the state directory of another user’s worker, for --drain', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root may become another user')
    const other = { env: {}, uid: 65_534, gid: 65_534, encoding: 'utf8' } as const
    if (spawnSync(process.execPath, [built('worker.js'), '--help'], other).status !== 0)
      skip('another user may not read this clone, or Node.js')
    chmodSync(directory, 0o755)
    mkdirSync(path.join(directory, 'state'), { mode: 0o700 })
    const state = path.join(directory, 'state')
    run()
    await followed(1)
    const words = [built('worker.js'), '--drain', '--state-dir', state]
    const { status, stderr } = spawnSync(process.execPath, words, other)
    expect([status, stderr]).toEqual([
      1,
      `The state directory ${state} can't be used (EACCES: permission denied, open '${state}/lock'): correct that, run --drain as the user whose worker runs there, or choose another with --state-dir.\n`,
    ])
  })
})

test.each([
  [['--state-dir', 'a', '--state-dir=b'], '--state-dir is given 2 times: give it once.'],
  [['--host', '-x'], `Option '--host' has no value: write --host=VALUE where that begins with "-", and see --help.`],
  [['--host'], "Option '--host <value>' argument missing: see --help."],
  [['--drain=yes'], "Option '--drain' does not take an argument: see --help."],
  [['x'], "Unexpected argument 'x': see --help."],
])('a command line that is wrong is one sentence: %j', (words, fault) => {
  expect(readCommandLine(words)).toEqual({ fault })
})

test('the option of a list may be given again', () => {
  expect(readCommandLine(['--servers', 'a', '--servers=b,c', '--host', 'd'])).toEqual({
    ...{ help: false, drain: false },
    settings: { XCE_WORKER_SERVERS: 'a,b,c', XCE_WORKER_HOST: 'd' },
  })
})

test('its own log is kept at two files', async () => {
  const log = path.join(directory, 'worker.log')
  writeFileSync(log, 'x'.repeat(logBytes))
  run({ XCE_WORKER_LOG_FILE: log })
  await followed(1)
  await until(() => statSync(`${log}.1`, { throwIfNoEntry: false })?.size === logBytes, 'it is rotated')
  // And again, while it runs.
  rmSync(`${log}.1`)
  appendFileSync(log, 'y'.repeat(logBytes))
  await until(
    () => statSync(`${log}.1`, { throwIfNoEntry: false })?.size === logBytes && statSync(log).size < logBytes,
    'it is rotated again',
  )
  server.drop()
  await until(() => readFileSync(log, 'utf8').includes('not connected'), 'it goes on writing')
})

test('a second worker on the same state directory is refused', async () => {
  const first = run()
  await followed(1)
  const second = run()
  expect(await second.ended).toBe(1)
  expect(second.output()).toContain(`in use by the worker with process id ${first.child.pid}: stop that one`)
  expect(first.child.exitCode).toBeNull()
})

test('SIGTERM ends the worker and leaves its replicas running; the next one adopts them', async () => {
  const first = run()
  await followed(1)
  const { replica, pid } = await runningReplica()
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
  expect(isRunning(pid)).toBe(true)
  run()
  await followed(2)
  expect(server.registrations[1]?.running).toMatchObject([{ replica, start: 1, state: 'RUNNING', ready: true }])
  expect(isRunning(pid)).toBe(true)
})

test('after kill -9 of the worker every replica is found again, untouched, and its later exit is known', async () => {
  const first = run()
  await followed(1)
  const replicas = await Promise.all([runningReplica(), runningReplica(), runningReplica()])
  first.child.kill('SIGKILL')
  expect(await first.ended).toBe('SIGKILL')
  const [one, two, three] = replicas
  kill(one?.pid, 'SIGTERM')
  await until(() => !isRunning(one?.pid ?? 0), 'one has ended while no worker was there')
  run()
  await followed(2)
  expect([two, three].every((replica) => isRunning(replica?.pid ?? 0))).toBe(true)
  await until(() => server.reported(one?.replica ?? '')?.exitSignal === 'TERM', 'the end that nobody saw')
  kill(two?.pid, 'SIGINT')
  await until(() => server.reported(two?.replica ?? '')?.exitSignal === 'INT', 'the end of an adopted one')
  expect(server.reported(three?.replica ?? '')).toMatchObject({ state: 'RUNNING', start: 1, ready: true })
})

test('started again where no server is, it stops what is to stop without contact, by the lease and grace that the servers had said', async () => {
  server.leaseSeconds = 1
  server.graceSeconds = 1
  const first = run()
  await followed(1)
  const stop = { signal: 'TERM', drainSeconds: 0, graceSeconds: 10, onLostContact: 'STOP' as const }
  const [stops, stays] = [await assigned({ stop }), await runningReplica()]
  first.child.kill('SIGKILL')
  await first.ended
  await server.stop()
  expect(processesWith(stops.replica)).not.toEqual([])
  const second = run()
  await until(() => processesWith(stops.replica).length === 0, 'it is stopped')
  await until(() => second.output().includes('no server was reached for longer than lease and grace'), 'it says why')
  expect(isRunning(stays.pid)).toBe(true)
})

test('a worker that is killed again and again while it starts replicas loses none and starts none twice', async () => {
  const assignments = Array.from({ length: 8 }, () => assignmentOf())
  let worker = run()
  await followed(1)
  for (const assignment of assignments) {
    server.assign(assignment)
    const file = path.join(directory, 'state', 'replicas', assignment.replica, 'state.json')
    // In the moment in which the start was decided on, and perhaps made.
    await until(() => existsSync(file), 'the start is recorded')
    worker.child.kill('SIGKILL')
    await worker.ended
    worker = run()
    await followed(server.registrations.length + 1)
  }
  await until(() => assignments.every(({ replica }) => server.reported(replica)?.state === 'RUNNING'), 'all run')
  for (const { replica } of assignments) {
    // The line that started it and the program.
    await until(() => processesWith(replica).length === 2, `one process of ${replica}`)
    const log = readFileSync(path.join(directory, 'state', 'replicas', replica, 'stdout.log'), 'utf8')
    expect(log.split('\n').length).toBeLessThanOrEqual(2)
  }
})

test('SIGUSR2 tells that nothing is ready any more, disconnects, stops all replicas by their stop policies, forgets them, and ends', async () => {
  const worker = run()
  await followed(1)
  const port = await freePort()
  const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
  const { replica } = await assigned({ command: program('http-server'), ports, readiness: httpProbe() })
  await until(() => server.reported(replica)?.ready, 'it is ready')
  const stubborn = { signal: 'TERM', drainSeconds: 0, graceSeconds: 1, onLostContact: 'KEEP' as const }
  await assigned({ command: program('ignores-term'), stop: stubborn })
  worker.child.kill('SIGUSR2')
  await until(() => server.connections === 0, 'it has disconnected')
  expect(server.reported(replica)).toMatchObject({ state: 'RUNNING', ready: false })
  expect(await worker.ended).toBe(0)
  // Its host gets nothing meanwhile, and nobody waits for its lease.
  expect([server.drains, server.ends]).toEqual([1, 1])
  expect(processesWith(directory)).toEqual([])
  run()
  await followed(2)
  expect(server.registrations[1]?.running).toEqual([])
})

test('a disk that is full: replicas go on, the worker says so and lives, and what is started then is told why it can’t be', async ({
  skip,
}) => {
  const disk = SmallDisk.mount(1) ?? skip('a disk can’t be mounted here')
  const log = path.join(disk.directory, 'worker.log')
  const onDisk = { XCE_WORKER_STATE_DIR: disk.directory, XCE_WORKER_LOG_FILE: log }
  const started = run(onDisk)
  try {
    await followed(1)
    const kept = await runningReplica(disk.directory)
    disk.fill()
    const message = expect.stringMatching(/^The state directory takes no new replica: ENOSPC/)
    const refused = async () => {
      const { replica } = assignmentOf()
      server.assign(assignmentOf({ replica }))
      await until(() => server.reported(replica)?.state === 'ENDED', 'it is refused')
      expect(server.reported(replica)).toMatchObject({ endReason: 'START_FAILED', message })
    }
    await refused()
    expect(isRunning(kept.pid)).toBe(true)
    // Killed and started again, with the disk as it is.
    started.child.kill('SIGKILL')
    await started.ended
    const again = run(onDisk)
    await followed(2)
    expect(server.registrations[1]?.running).toMatchObject([{ replica: kept.replica, state: 'RUNNING', ready: true }])
    expect(isRunning(kept.pid)).toBe(true)
    await refused()
    disk.free()
    await assigned({})
    expect(again.child.exitCode).toBeNull()
    // What its log could not take then it takes now.
    await until(() => readFileSync(log, 'utf8').includes('The state directory takes no new replica'), 'its log says so')
  } finally {
    // The replicas too, which start on the disk.
    await endProcessesWith(directory, disk.directory)
    await disk.unmount()
  }
})
