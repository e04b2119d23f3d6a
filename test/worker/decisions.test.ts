import { createSocket } from 'node:dgram'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import type { GraphQLInputType } from 'graphql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inputIssues } from '../../src/graphql/kit/check.ts'
import { workerSchema } from '../../src/graphql/schema.ts'
import { workerProtocolVersion } from '../../src/model/workerProtocol.ts'
import type { Report } from '../../src/worker/assignment.ts'
import { describeExit, exitFromStatus } from '../../src/worker/files/exit.ts'
import { Outbox } from '../../src/worker/link/outbox.ts'
import { openCgroups } from '../../src/worker/machine/cgroup.ts'
import { parseStat } from '../../src/worker/machine/processTable.ts'
import { signalOf } from '../../src/worker/machine/signalName.ts'
import { Tally } from '../../src/worker/probe/tally.ts'
import { takenPorts } from '../../src/worker/process/portCheck.ts'
import { readWorkerSettings } from '../../src/worker/settings/settings.ts'
import { assignmentOf } from '../support/drivers/supervision.ts'
import { freePort } from '../support/fixtures/freePort.ts'

test.each([
  ['0 \n', { code: 0, signal: null }, 'exited with code 0'],
  ['127 \n', { code: 127, signal: null }, 'exited with code 127'],
  ['128 \n', { code: 128, signal: null }, 'exited with code 128'],
  ['137 \n', { code: null, signal: 'KILL' }, 'was ended by SIGKILL'],
  ['143 \n', { code: null, signal: 'TERM' }, 'was ended by SIGTERM'],
  ['162 \n', { code: null, signal: 'RTMIN+0' }, 'was ended by SIGRTMIN+0'],
  ['255 \n', { code: 255, signal: null }, 'exited with code 255'],
  ['137 [1] + Done(137)\n', { code: 137, signal: null }, 'exited with code 137'],
  ['137 [1] + Killed\n', { code: null, signal: 'KILL' }, 'was ended by SIGKILL'],
])('a shell’s status %j is %j', (text, exit, sentence) => {
  expect(exitFromStatus(text)).toEqual(exit)
  expect(describeExit(exit)).toBe(sentence)
})

test.each([[''], ['1'], ['x\n']])('a status that is not whole yet, %j, is none', (text) => {
  expect(exitFromStatus(text)).toBeNull()
})

test.each([
  ['TERM', 'SIGTERM'],
  ['SIGINT', 'SIGINT'],
  ['10', 10],
  ['NONSENSE', 'SIGTERM'],
])('the stop signal %s is sent as %s', (text, signal) => {
  expect(signalOf(text)).toBe(signal)
})

test('a line of the process table is read past a program’s name with spaces and parentheses', () => {
  const line = '4711 (a (b) c) S 1 4700 4699 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 123456 1000 1 18446744073709551615'
  expect(parseStat(line)).toEqual({
    pid: 4711,
    name: 'a (b) c',
    dead: false,
    parent: 1,
    group: 4700,
    session: 4699,
    startTicks: 123_456,
  })
  expect(parseStat(line.replace(') S', ') Z'))?.dead).toBe(true)
  expect(parseStat('')).toBeNull()
})

test('thresholds count results in a row', () => {
  const tally = new Tally({ failureThreshold: 3, successThreshold: 2 }, false)
  const changes = [true, false, true, true, false, false, true, false, false, false].map((success) =>
    tally.add(success),
  )
  expect(changes).toEqual([false, false, false, true, false, false, false, false, false, true])
  expect(tally.healthy).toBe(false)
})

test('a UDP port that somebody has is told apart from the TCP port of the same number', async () => {
  const port = await freePort() // Free for TCP; and none that the system gives to a connection meanwhile.
  const socket = createSocket('udp4')
  onTestFinished(() => new Promise<void>((resolve) => void socket.close(() => resolve())))
  await new Promise<void>((resolve) => socket.bind(port, resolve))
  expect(
    await takenPorts([
      { name: 'http', port, protocol: 'TCP' },
      { name: 'dns', port, protocol: 'UDP' },
    ]),
  ).toEqual({ names: ['dns'], message: `The port "dns" (UDP ${port}) is used by another process on this host.` })
})

test('a UDP port that nobody has is no fault', async () => {
  expect(await takenPorts([{ name: 'dns', port: await freePort(), protocol: 'UDP' }])).toBeNull()
})

describe('the outbox', () => {
  function report(replica: string, start: number): Report {
    return {
      replica,
      start,
      state: 'RUNNING',
      ready: false,
      probe: null,
      endReason: null,
      exitCode: null,
      exitSignal: null,
      message: null,
      ports: [],
      takenPorts: [],
    }
  }

  test('gives the latest state of each replica, in the order of the changes', () => {
    const outbox = new Outbox()
    for (const [replica, start] of [
      ['a', 1],
      ['b', 1],
      ['a', 2],
    ] as const)
      outbox.put(report(replica, start))
    expect(outbox.take(1, () => [])).toEqual({ full: false, reports: [report('b', 1)] })
    expect(outbox.take(9, () => [])).toEqual({ full: false, reports: [report('a', 2)] })
  })

  test('says again what was perhaps not taken, but never over something newer', async () => {
    const outbox = new Outbox()
    outbox.put(report('a', 1))
    outbox.put(report('b', 1))
    const batch = outbox.take(9, () => [])
    outbox.put(report('a', 2))
    outbox.putBack(batch)
    await outbox.filled()
    expect(outbox.take(9, () => []).reports).toEqual(expect.arrayContaining([report('a', 2), report('b', 1)]))
  })

  test('asked for all, gives all once', async () => {
    const outbox = new Outbox()
    const filled = outbox.filled()
    outbox.askForAll()
    await filled
    const all = [report('a', 1), report('b', 1)]
    const batch = outbox.take(1, () => all)
    expect(batch).toEqual({ full: true, reports: all })
    outbox.putBack(batch)
    expect(outbox.take(1, () => all)).toEqual({ full: true, reports: all })
    expect(outbox.take(1, () => all)).toEqual({ full: false, reports: [] })
  })
})

describe('settings', () => {
  const needed = { XCE_WORKER_SERVERS: 'http://a:1/graphql, https://b/graphql', XCE_WORKER_TOKEN_FILE: '/token' }

  test('have defaults from the machine', () => {
    const read = readWorkerSettings(needed)
    if ('faults' in read) throw new Error(read.faults.join())
    expect(read.settings).toMatchObject({
      servers: { kind: 'list', urls: ['http://a:1/graphql', 'https://b/graphql'] },
      tokenFile: '/token',
      stateDirectory: path.resolve('.xce-worker'),
      host: (hostname().split('.')[0] ?? '').toLowerCase(),
      portRange: { from: 20_000, to: 32_000 },
      reservedPorts: [],
    })
    expect(read.settings.cpuMillis % 1_000).toBe(0)
    expect(read.settings.memoryMiB).toBeGreaterThan(100)
  })

  test('are taken', () => {
    const read = readWorkerSettings({
      ...needed,
      XCE_WORKER_ADDRESSES: '10.0.0.1, fd00::1',
      XCE_WORKER_RESERVED_PORTS: '25000, 25002-25004',
      XCE_WORKER_PORT_RANGE: '1-65535',
    })
    expect(read).toMatchObject({
      settings: {
        addresses: ['10.0.0.1', 'fd00::1'],
        reservedPorts: [25_000, 25_002, 25_003, 25_004],
        portRange: { from: 1, to: 65_535 },
      },
    })
  })

  test.each([
    ['Node_7.rack-2.example.com', true],
    ['a'.repeat(253), true],
    ['a'.repeat(254), false],
    ['node.', false],
    ['a b', false],
  ])('a machine’s own name is a name here and at the server: %s', (name, isOne) => {
    expect('settings' in readWorkerSettings({ ...needed, XCE_WORKER_NAME: name, XCE_WORKER_HOST: name })).toBe(isOne)
    const worker = {
      name,
      host: name,
      protocolVersion: workerProtocolVersion,
      addresses: [],
      cpuMillis: 1,
      memoryMiB: 1,
      portRange: { from: 1, to: 2 },
      reservedPorts: [],
      softwareVersion: '',
      stateDirectoryId: 'a',
      registrationNumber: 1,
    }
    const paths = inputIssues(workerSchema.getType('RegisterWorkerInput') as GraphQLInputType, worker, []).map(
      ({ path }) => path,
    )
    expect(paths).toEqual(isOne ? [] : [['name'], ['host']])
  })

  test.each([
    [{ XCE_WORKER_SERVERS: '' }, /XCE_WORKER_SERVERS is not set/],
    [{ XCE_WORKER_SERVERS: ' , ' }, /XCE_WORKER_SERVERS is not set/],
    [{ XCE_WORKER_SERVERS: 'ftp://a' }, /XCE_WORKER_SERVERS has "ftp:\/\/a": give an http or https URL/],
    [{ XCE_WORKER_SERVER_FILE: '/f' }, /both set/],
    [{ XCE_WORKER_TOKEN_FILE: ' ' }, /XCE_WORKER_TOKEN_FILE is not set/],
    [{ XCE_WORKER_NAME: '-x' }, /XCE_WORKER_NAME is "-x": use letters, digits/],
    [{ XCE_WORKER_ADDRESSES: 'localhost' }, /XCE_WORKER_ADDRESSES has "localhost": give an IP address/],
    [{ XCE_WORKER_MEMORY_MIB: '0' }, /XCE_WORKER_MEMORY_MIB is "0"/],
    [{ XCE_WORKER_PORT_RANGE: '1-65536' }, /XCE_WORKER_PORT_RANGE is "1-65536"/],
    [{ XCE_WORKER_RESERVED_PORTS: 'x' }, /XCE_WORKER_RESERVED_PORTS has "x": give a port from 1 to 65535/],
    [{ XCE_LOG_LEVEL: 'loud' }, /XCE_LOG_LEVEL is "loud": say trace, debug, info, warn, error, fatal or silent/],
  ])('%j is refused', (change, sentence) => {
    const read = readWorkerSettings({ ...needed, ...change })
    expect('faults' in read ? read.faults : []).toEqual([expect.stringMatching(sentence)])
  })
})

test('each faulty item of a list has a sentence of its own, and a password in a URL is not shown', () => {
  const read = readWorkerSettings({
    XCE_WORKER_SERVERS: 'http://a, ftp://me:s3cret@b, c',
    XCE_WORKER_TOKEN_FILE: '/token',
    XCE_WORKER_RESERVED_PORTS: '1, 70000, 9-8',
  })
  expect('faults' in read ? read.faults : []).toEqual([
    expect.stringMatching(/^XCE_WORKER_SERVERS has "ftp:\/\/me:\*\*\*@b": /),
    expect.stringMatching(/^XCE_WORKER_SERVERS has "c": /),
    expect.stringMatching(/^XCE_WORKER_RESERVED_PORTS has "70000": /),
    expect.stringMatching(/^XCE_WORKER_RESERVED_PORTS has "9-8": /),
  ])
})

describe('cgroups', () => {
  test('are not used where they are not delegated, and the sentence says so', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'xce-cgroup-'))
    const own = { directory, isInLeaf: false }
    expect(openCgroups(null)).toMatch(/reserved and not enforced/)
    expect(openCgroups(own)).toMatch(/not delegated/)
    writeFileSync(path.join(directory, 'cgroup.controllers'), 'cpuset cpu io\n')
    expect(openCgroups(own)).toMatch(/has no memory controller/)
    rmSync(directory, { recursive: true })
  })

  test('get the reservation as limits', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'xce-cgroup-'))
    writeFileSync(path.join(directory, 'cgroup.controllers'), 'cpu memory pids\n')
    writeFileSync(path.join(directory, 'cgroup.procs'), `1\n${process.pid}\n`)
    expect(openCgroups({ directory, isInLeaf: false })).toMatch(/holds other processes/)
    writeFileSync(path.join(directory, 'cgroup.procs'), `${process.pid}\n`)
    mkdirSync(path.join(directory, 'xce-worker'))
    const cgroups = openCgroups({ directory, isInLeaf: true })
    if (typeof cgroups === 'string') throw new Error(cgroups)
    expect(readFileSync(path.join(directory, 'cgroup.subtree_control'), 'utf8')).toBe('+memory +cpu')
    const own = cgroups.create(assignmentOf({ memoryMiB: 64, cpuMillis: 1_500 }))
    expect(readFileSync(path.join(own, 'memory.max'), 'utf8')).toBe('67108864')
    expect(readFileSync(path.join(own, 'cpu.max'), 'utf8')).toBe('150000 100000')
    rmSync(directory, { recursive: true })
  })
})
