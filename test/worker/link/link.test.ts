import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Logger, pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { workerProtocolVersion } from '../../../src/model/workerProtocol.ts'
import type { Assignment } from '../../../src/worker/assignment.ts'
import { Connection } from '../../../src/worker/link/connection.ts'
import type { Supervisor } from '../../../src/worker/process/supervisor.ts'
import type { Servers } from '../../../src/worker/settings/settings.ts'
import { LinkedWorker } from '../../support/drivers/linkedWorker.ts'
import { assignmentOf, httpProbe } from '../../support/drivers/supervision.ts'
import { WorkerServer } from '../../support/drivers/workerServer.ts'
import { freePort } from '../../support/fixtures/freePort.ts'
import { listenOn } from '../../support/fixtures/listenOn.ts'
import { linesIn, logQuestion, readLog } from '../../support/fixtures/logAnswers.ts'
import { expectNoProcessWith, expectNothingLeft, processesWith, program } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let directory: string
let server: WorkerServer
let supervisor: Supervisor
let end: (() => Promise<void>) | null = null

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-link-'))
  server = new WorkerServer()
  await server.start()
})
afterEach(async () => {
  await end?.()
  end = null
  await server.stop()
  await expectNoProcessWith(directory, ...server.known)
  await expectNothingLeft()
  rmSync(directory, { recursive: true })
})

/** Runs a worker in this process, until the test's end. */
function connect(servers: Servers = { kind: 'list', urls: [server.url] }, log?: Logger): LinkedWorker {
  const worker = new LinkedWorker({
    directory,
    token: server.token,
    settings: { servers },
    ...(log === undefined ? {} : { log }),
  })
  supervisor = worker.supervisor
  end = () => worker.end()
  return worker
}

async function running(change: Partial<Assignment> = {}): Promise<Assignment> {
  const assignment = assignmentOf(change)
  server.assign(assignment)
  await until(() => server.reported(assignment.replica)?.state === 'RUNNING', 'it is reported as running')
  return assignment
}

function followed(times = 1): Promise<unknown> {
  return until(() => server.registrations.length >= times && server.followers > 0, 'the worker follows its assignments')
}

test('a worker registers with what it is, and renews its lease', async () => {
  server.leaseSeconds = 1
  connect()
  await until(() => server.renewals > 1, 'it renews')
  expect(server.registrations).toEqual([
    {
      name: 'worker-1',
      host: 'host-1',
      addresses: ['127.0.0.1'],
      cpuMillis: 2_000,
      memoryMiB: 1_024,
      portRange: { from: 20_000, to: 32_000 },
      reservedPorts: [22_222],
      softwareVersion: '1.2.3',
      protocolVersion: workerProtocolVersion,
      running: [],
      stateDirectoryId: 'the-directory',
      registrationNumber: 1,
    },
  ])
})

test('says of each registration which one of its state directory it is; one that has an old copy goes above the newest', async () => {
  const numbers = () => server.registrations.map(({ registrationNumber }) => registrationNumber)
  server.leaseSeconds = 1
  connect()
  await followed()
  server.epoch += 1
  await followed(2)
  expect(numbers()).toEqual([1, 2])
  server.newestRegistration = 7
  server.epoch += 1
  await followed(4)
  expect(numbers()).toEqual([1, 2, 3, 8])
})

test('that none of its servers takes, it tries all of them before each pause', async () => {
  const away = await Promise.all([freePort(), freePort(), freePort()])
  const waits: number[] = []
  const log = pino(
    { level: 'warn' },
    { write: (line) => void waits.push((JSON.parse(line) as { waitMillis: number }).waitMillis) },
  )
  connect({ kind: 'list', urls: away.map((port) => `http://127.0.0.1:${port}/graphql`) }, log)
  await until(() => waits.length >= 9, 'three rounds')
  expect(waits.slice(0, 9).map((millis) => millis > 0)).toEqual([
    false,
    false,
    true,
    false,
    false,
    true,
    false,
    false,
    true,
  ])
})

test('a lost session, however short, is followed by a random wait: others have lost theirs in the same instant', async () => {
  const lines: { msg: string; waitMillis?: number }[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const waits = () => lines.flatMap(({ waitMillis }) => waitMillis ?? [])
  connect({ kind: 'list', urls: [server.url, server.url, server.url] }, log)
  for (const session of [1, 2]) {
    await until(() => lines.filter(({ msg }) => msg === 'connected').length === session, 'it is connected')
    server.drop()
    await until(() => waits().length === session, 'it has lost the session')
  }
  // Both are 0 by chance once in some 300,000 runs.
  expect(Math.max(...waits())).toBeGreaterThan(0)
  expect(Math.max(...waits())).toBeLessThanOrEqual(300)
})

test('it runs what it is assigned, with its probes, and reports with rising sequences', async () => {
  connect()
  await followed()
  const port = await freePort()
  const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
  const action = { kind: 'exec' as const, command: ['true'] }
  const assignment = assignmentOf({
    command: program('http-server'),
    ports,
    startup: httpProbe({
      failureThreshold: 1_000,
      action: {
        kind: 'http',
        port: 'http',
        path: '/health',
        scheme: 'HTTP',
        headers: [{ name: 'Host', value: 'app' }],
      },
    }),
    readiness: httpProbe(),
    liveness: httpProbe({ action }),
  })
  server.assign(assignment)
  await until(() => server.reported(assignment.replica)?.ready, 'it is ready')
  server.assign({ ...assignment, goal: 'STOP' })
  await until(() => server.reported(assignment.replica)?.endReason === 'STOPPED', 'it is stopped')
  server.remove(assignment.replica)
  await until(() => supervisor.reports().length === 0, 'it is forgotten')
  const sequences = server.reports.map(({ sequence }) => sequence)
  expect(sequences).toEqual([...sequences].sort((a, b) => a - b))
  expect(new Set(sequences).size).toBe(sequences.length)
  expect(server.reports.every(({ full }) => !full)).toBe(true)
})

test('asked to resync, it reports everything once', async () => {
  server.leaseSeconds = 1
  connect()
  await followed()
  const [one, two] = [await running(), await running()]
  server.resync = true
  await until(() => server.reports.some(({ full }) => full), 'a full report')
  const full = server.reports.filter((report) => report.full)
  expect(full).toHaveLength(1)
  expect(full[0]?.reports.map(({ replica }) => replica).sort()).toEqual([one.replica, two.replica].sort())
})

test('it answers requests for logs', async () => {
  connect()
  await followed()
  const { replica } = await running({
    command: ['sh', '-c', 'for i in 1 2 3; do echo $i; done; echo oh >&2; exec sleep 1000'],
  })
  await until(async () => linesIn(await readLog(supervisor, replica), 'STDERR').length === 1, 'it has printed')
  const question = { ...logQuestion({ tailLines: 2, stream: 'STDOUT' }), since: '2026-01-31T12:00:00.000Z' }
  server.askForLog({ ...question, id: 'LogRequest_1', replica })
  server.askForLog({ ...question, id: 'LogRequest_2', replica: '../../etc' })
  await until(() => server.answers.length === 2, 'the answers')
  const answers = new Map(server.answers.map((answer) => [answer.request, answer]))
  const at = expect.stringMatching(/^20\d\d-.*Z$/)
  expect(answers.get('LogRequest_1')).toMatchObject({
    state: 'OPEN',
    runs: [{ stream: 'STDOUT', at, start: 1, lines: ['2', '3'], cut: false }],
    starts: [{ start: 1, at }],
    truncated: true,
  })
  expect(answers.get('LogRequest_2')).toMatchObject({ state: 'NONE', runs: [] })
})

describe('a lost connection', () => {
  test.each([[undefined], [1000], [1012], [4403]])(
    '(%s) is made again with the same registration; a SNAPSHOT sets right what was missed',
    async (code) => {
      connect()
      await followed()
      const [kept, gone] = [await running(), await running()]
      const fresh = assignmentOf()
      server.assignments.delete(gone.replica)
      server.assignments.set(fresh.replica, fresh)
      server.partSize = 1
      server.drop(code)
      await until(() => server.reported(fresh.replica)?.state === 'RUNNING', 'the new one runs')
      await until(() => server.reported(gone.replica)?.endReason === 'STOPPED', 'the other is stopped')
      expect(server.reported(kept.replica)?.state).toBe('RUNNING')
      expect(server.registrations).toHaveLength(1)
    },
  )

  test('loses no report', async () => {
    connect()
    await followed()
    const goes = path.join(directory, 'goes')
    const { replica } = await running({
      command: ['sh', '-c', `while [ ! -f "${goes}" ]; do sleep 0.01; done; exit 4`],
      restart: { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 1, delaySeconds: 0 },
    })
    await server.stop()
    writeFileSync(goes, '')
    await until(() => supervisor.reports()[0]?.state === 'ENDED', 'it ends while nobody listens')
    await server.start()
    await until(() => server.reported(replica)?.exitCode === 4, 'its end is reported')
  })

  test('is made to another server, and the file with the address is read again', async () => {
    const file = path.join(directory, 'server-url')
    writeFileSync(file, server.url)
    connect({ kind: 'file', file })
    await followed()
    await server.stop()
    server = new WorkerServer()
    await server.start()
    writeFileSync(file, `${server.url}\n`)
    // Another server with other data: its epoch is another.
    server.epoch = 7
    await until(() => server.epoch === 8 && server.followers > 0, 'it has registered there')
  })
})

test('a PORT_TAKEN that was taken but not answered is told again of the placement that it was about, and the next one is tried', async () => {
  connect()
  await followed()
  const holder = createServer().listen(await freePort())
  const taken = (holder.address() as AddressInfo).port
  const portsOf = (port: number) => [{ name: 'http', port, protocol: 'TCP' as const }]
  const assignment = assignmentOf({ ports: portsOf(taken) })
  // The server has placed it anew, here, before the worker is back.
  const free = await freePort()
  server.cutsNextEnd = true
  server.assign(assignment)
  await until(() => server.reported(assignment.replica)?.endReason === 'PORT_TAKEN', 'its port is taken')
  server.assignments.set(assignment.replica, { ...assignment, ports: portsOf(free) })
  await until(() => server.reported(assignment.replica)?.state === 'RUNNING', 'the next placement runs')
  const told = server.reports.flatMap(({ reports }) => reports)
  expect(
    told.filter(({ endReason }) => endReason === 'PORT_TAKEN').every(({ ports }) => ports.join() === String(taken)),
  ).toBe(true)
  expect(told.at(-1)).toMatchObject({ state: 'RUNNING', ports: [free] })
  await new Promise((resolve) => holder.close(resolve))
})

test('a port that a server has it watch is told when it is free, also over a reconnect', async () => {
  const port = await freePort()
  const close = await listenOn(port)
  server.portsToWatch = [{ port, protocol: 'TCP', seconds: 600 }]
  connect()
  await followed()
  server.drop()
  await until(() => server.followers === 0, 'it is cut')
  await close()
  await until(() => server.freedPorts.length > 0, 'it is told')
  expect(server.freedPorts).toEqual([{ port, protocol: 'TCP' }])
})

test('servers that were started with another lease tell it when it connects again, and it renews by that', async () => {
  connect()
  await followed()
  await until(() => server.renewals === 1, 'it renews')
  server.leaseSeconds = 1
  server.graceSeconds = 2
  server.drop()
  await until(() => server.renewals === 5, 'by a lease of 15 s these would take 20 s', 10)
  const contact = JSON.parse(readFileSync(path.join(directory, 'contact.json'), 'utf8')) as { patienceSeconds: number }
  expect(contact.patienceSeconds).toBe(3)
  expect(server.registrations).toHaveLength(1)
})

test('a connection that has ended opens no other one for what is asked of it then', async () => {
  const target = { url: server.url, token: server.token, tokenFile: '', worker: 'worker-1' }
  const connection = await Connection.open(target, AbortSignal.timeout(10_000))
  connection.close()
  await expect(connection.request('{ __typename }', {}, 10_000)).rejects.toThrow(
    'The connection was closed by this worker.',
  )
  await until(() => server.connections === 0, 'it is closed')
})

test('a file may name the server without its path', async () => {
  const file = path.join(directory, 'server-url')
  writeFileSync(file, `${new URL(server.url).origin}\n`)
  connect({ kind: 'file', file })
  await followed()
})

describe('fenced', () => {
  test('by any answer, it stops every replica and registers anew with none', async () => {
    server.leaseSeconds = 1
    connect()
    await followed()
    const { replica } = await running({
      stop: { signal: 'TERM', drainSeconds: 3_600, graceSeconds: 5, onLostContact: 'KEEP' },
    })
    server.assignments.clear()
    server.epoch += 1
    await followed(2)
    expect(server.registrations[1]?.running).toEqual([])
    expect(processesWith(replica)).toEqual([])
    await running()
    expect(server.reports.at(-1)?.sequence).toBeLessThan(5)
  })

  test('on the subscription too', async () => {
    connect()
    await followed()
    server.epoch += 1
    server.drop()
    await followed(2)
  })

  test('again and again, as by a copy of its state directory, it takes its time and says why', async () => {
    const lines: { msg: string; waitMillis?: number }[] = []
    connect(undefined, pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) }))
    for (const registration of [1, 2, 3]) {
      await followed(registration)
      server.epoch += 1
      server.drop()
    }
    await followed(4)
    const fought = lines.flatMap(({ msg }, at) =>
      msg.includes('a copy of this state directory') ? [lines[at + 1]] : [],
    )
    expect(fought).toHaveLength(3)
    for (const next of fought) expect(next?.waitMillis).toBeGreaterThanOrEqual(0)
  })

  test('it ends when it is told to, though what it stops takes its time', async () => {
    server.leaseSeconds = 1
    const worker = connect()
    await followed()
    const stop = { signal: 'TERM', drainSeconds: 0, graceSeconds: 4, onLostContact: 'KEEP' } as const
    const { replica } = await running({ command: program('ignores-term'), stop })
    server.epoch += 1
    await until(() => server.followers === 0, 'it is fenced')
    await worker.leave()
    expect(processesWith(replica)).not.toEqual([])
  })

  test('for single replicas, it stops those', async () => {
    connect()
    await followed()
    const [kept, stale] = [await running(), await running()]
    server.stale = [stale.replica]
    server.assign({ ...kept, goal: 'STOP' })
    await until(
      () => supervisor.reports().every(({ replica }) => replica !== stale.replica),
      'the stale one is forgotten',
    )
    expect(processesWith(stale.replica)).toEqual([])
  })
})

test('assignments that are on their way when the worker ends start nothing that nobody stops again', async () => {
  const assignment = assignmentOf()
  server.assignments.set(assignment.replica, assignment)
  const ended = new Promise<void>((resolve, reject) => {
    server.onFollow = () => void end?.().then(resolve, reject)
  })
  connect()
  await ended
  // By then the SNAPSHOT has come: the server has seen the goodbye, which was sent before it was received.
  await until(() => server.followers === 0, 'the server has seen the goodbye')
  expect(processesWith(directory, assignment.replica)).toEqual([])
})

test('a refused token is tried again for ever', async () => {
  connect()
  await followed()
  writeFileSync(path.join(directory, 'token'), 'wrong')
  server.drop()
  await until(() => server.followers === 0, 'it is refused')
  writeFileSync(path.join(directory, 'token'), server.token)
  await until(() => server.followers === 1, 'it is back')
})
