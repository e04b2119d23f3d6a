import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ProbeAction } from '../../../src/model/content.ts'
import { Sessions } from '../../../src/worker/machine/sessions.ts'
import { checkOf } from '../../../src/worker/probe/target.ts'
import { assignmentOf, httpProbe, Supervision } from '../../support/drivers/supervision.ts'
import { freePort } from '../../support/fixtures/freePort.ts'
import { processesWith, program } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

const getRoot = { kind: 'http', port: 'http', path: '/', scheme: 'HTTP', headers: [] } as const

let supervision: Supervision
beforeEach(() => {
  supervision = new Supervision()
})
afterEach(async () => {
  await supervision.dispose()
})

describe('one probe', () => {
  let server: Server
  let port: number
  beforeEach(async () => {
    server = createServer((request, response) => {
      const status = Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 200)
      if (request.url === '/silent') return
      response.writeHead(status, { location: '/500' }).end('body')
    })
    await new Promise<void>((resolve) => server.listen(0, resolve))
    port = (server.address() as AddressInfo).port
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  /** `seconds`: what it may take; short only where it is to take longer. */
  function probe(action: ProbeAction, seconds = 60): Promise<string | null> {
    const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
    const environment = { PATH: process.env['PATH'] ?? '', XCE_VERSION: '3' }
    const check = checkOf(action, seconds, {
      ...{ address: '127.0.0.1', ports, environment, workingDirectory: '/tmp' },
      sessions: new Sessions(),
    })
    return check(new AbortController().signal)
  }

  test.each([
    ['/200', null],
    ['/302', null],
    ['/399', null],
    ['/400', /answered 400/],
    ['/503', /answered 503/],
    ['/日', /can't be sent/],
  ])('by HTTP of %s answers %s', async (url, failure) => {
    const answer = await probe({ ...getRoot, path: url })
    if (failure === null) expect(answer).toBeNull()
    else expect(answer).toMatch(failure)
  })

  test('by HTTP that has no answer in time fails', async () => {
    expect(await probe({ ...getRoot, path: '/silent' }, 0.2)).toMatch(/did not answer within 0.2 s/)
  })

  test('by TCP needs a listener', async () => {
    expect(await probe({ kind: 'tcp', port: 'http' })).toBeNull()
    const taken = port
    port = await freePort()
    expect(await probe({ kind: 'tcp', port: 'http' })).toMatch(/ECONNREFUSED/)
    port = taken
  })

  test.each([
    [['true'], null],
    [['sh', '-c', 'test "$XCE_VERSION" = 3 && test "$PWD" = /tmp'], null],
    [['sh', '-c', 'exit 4'], /exited with code 4/],
    [['no-such-program'], /could not be started/],
    [['/etc/passwd/below-a-file'], /could not be started/],
    [['sh', '-c', 'kill -9 $$'], /ended by SIGKILL/],
  ])('by the command %j answers %s', async (command, failure) => {
    const answer = await probe({ kind: 'exec', command })
    if (failure === null) expect(answer).toBeNull()
    else expect(answer).toMatch(failure)
  })

  test('by a command that takes too long kills it with its group', async () => {
    const mark = path.join(supervision.directory, 'late')
    const command = ['sh', '-c', `sleep 1000 & sleep 1000; : ${mark}`]
    expect(await probe({ kind: 'exec', command }, 0.2)).toMatch(/did not end within/)
    expect(processesWith(mark)).toEqual([])
  })

  test('of a port that is not declared fails', async () => {
    expect(await probe({ kind: 'tcp', port: 'admin' })).toMatch(/not declared/)
  })
})

test('a replica on a host with an IPv6 address is probed there', async ({ skip }) => {
  // It listens there and nowhere else.
  const port = await freePort()
  const server = createServer((_request, response) => response.end()).listen(port, '::1')
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => skip(`this machine has no IPv6: ${code}`))
  const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
  const answers = (address: string) =>
    Promise.all(
      [getRoot, { kind: 'tcp', port: 'http' } as const].map((action) =>
        checkOf(action, 60, { address, ports, environment: {}, workingDirectory: '/tmp', sessions: new Sessions() })(
          new AbortController().signal,
        ),
      ),
    )
  try {
    expect(await answers('::1')).toEqual([null, null])
    expect(await answers('127.0.0.1')).toEqual([
      expect.stringMatching(/ECONNREFUSED/),
      expect.stringMatching(/ECONNREFUSED/),
    ])
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})

function ask(port: number, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ port, path: url, agent: false }, (response) => response.resume().on('end', resolve)).on('error', reject)
  })
}

async function web(change: Parameters<typeof assignmentOf>[0] = {}): Promise<{ replica: string; port: number }> {
  const port = await freePort()
  const ports = [{ name: 'http', port, protocol: 'TCP' as const }]
  const assignment = assignmentOf({ command: program('http-server'), ports, readiness: httpProbe(), ...change })
  supervision.supervisor.assign(assignment)
  return { replica: assignment.replica, port }
}

test('readiness is reported when it changes, and only then', async () => {
  const { replica, port } = await web()
  await supervision.report(replica, { ready: true })
  await ask(port, '/status/503')
  const { probe } = await supervision.report(replica, { ready: false, state: 'RUNNING' }, 3)
  expect(probe).toMatchObject({ kind: 'READINESS', ok: false, message: `GET /health on port ${port} answered 503` })
  await ask(port, '/status/302')
  const again = await supervision.report(replica, { ready: true }, 4)
  expect(again.probe).toMatchObject({ kind: 'READINESS', ok: true, message: null })
  expect(supervision.story(replica)).toEqual([
    '1 STARTING',
    '1 RUNNING',
    '1 RUNNING ready',
    '1 RUNNING',
    '1 RUNNING ready',
  ])
})

test('a start that was never ready is probed more often than the period', async () => {
  const { replica } = await web({ readiness: httpProbe({ periodSeconds: 3_600 }) })
  await supervision.report(replica, { ready: true })
})

test('a failed liveness probe ends the process and counts as a restart in place', async () => {
  const { replica, port } = await web({
    liveness: httpProbe({ failureThreshold: 2 }),
    restart: { mode: 'ALWAYS', maxAttempts: 1, windowSeconds: 600, delaySeconds: 0 },
  })
  await supervision.report(replica, { ready: true })
  await ask(port, '/status/500')
  const restarted = await supervision.report(replica, { start: 2, state: 'STARTING' })
  const why = `Its liveness probe failed 2 times in a row: GET /health on port ${port} answered 500.`
  expect(restarted).toMatchObject({ message: why, exitCode: 0, exitSignal: null, probe: null })
  const failed = { kind: 'LIVENESS', ok: false, message: `GET /health on port ${port} answered 500` }
  const ending = supervision.reports.find((report) => report.replica === replica && report.probe?.kind === 'LIVENESS')
  expect(ending).toMatchObject({ start: 1, ready: false, probe: failed })
  const ready = await supervision.report(replica, { start: 2, ready: true })
  expect(ready).toMatchObject({ message: why, exitCode: 0 })
  await ask(port, '/status/500')
  const end = await supervision.report(replica, { state: 'ENDED' })
  expect(end).toMatchObject({ endReason: 'GAVE_UP', exitCode: 0, start: 2 })
  expect(end.message).toContain('Its liveness probe failed')
})

test('each start has to become ready again', async () => {
  const { replica } = await web({
    command: program('ready-then-crash'),
    restart: { mode: 'ALWAYS', maxAttempts: 1, windowSeconds: 600, delaySeconds: 0 },
  })
  await supervision.report(replica, { state: 'ENDED', endReason: 'GAVE_UP', exitCode: 7 })
  const story = supervision.story(replica)
  expect(story.indexOf('2 STARTING')).toBeGreaterThan(0)
  expect(story).not.toContain('2 STARTING ready')
})

test('a command probe runs in the replica’s environment until the stop', async () => {
  const flag = path.join(supervision.directory, 'healthy')
  const action = {
    kind: 'exec' as const,
    command: ['sh', '-c', `echo "$XCE_REPLICA_ID" > ${flag}.asked; test -f ${flag}`],
  }
  const assignment = assignmentOf({ readiness: httpProbe({ action }) })
  supervision.supervisor.assign(assignment)
  await until(
    () => existsSync(`${flag}.asked`) && readFileSync(`${flag}.asked`, 'utf8') === `${assignment.replica}\n`,
    'it was asked',
  )
  expect(supervision.story(assignment.replica).at(-1)).toBe('1 RUNNING')
  writeFileSync(flag, '')
  await supervision.report(assignment.replica, { ready: true })
})
