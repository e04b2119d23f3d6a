import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createToken } from '../../../src/store/access/tokens.ts'
import { connectFault } from '../../../src/worker/link/connectFault.ts'
import { Connection } from '../../../src/worker/link/connection.ts'
import type { WorkerSettings } from '../../../src/worker/settings/settings.ts'
import { HandWorker } from '../../support/drivers/handWorker.ts'
import { LinkedWorker } from '../../support/drivers/linkedWorker.ts'
import { assignmentOf } from '../../support/drivers/supervision.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { expectNothingLeft } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let server: TestServer
/** Answers with 404, or hangs up. */
let other: Server
let otherUrl: string
const serverLines: Record<string, unknown>[] = []
beforeAll(async () => {
  server = await TestServer.start(
    pino({ level: 'warn' }, { write: (line) => void serverLines.push(JSON.parse(line)) }),
    undefined,
    {
      env: { XCE_LEASE_SECONDS: '3599', XCE_GRACE_SECONDS: '59' },
    },
  )
  // Here, because fetch keeps its connection for seconds, and nothing may be left open of a test.
  await new HandWorker(server.client, 'taken').register([], { stateDirectoryId: 'of another state directory' })
  other = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
  other.on('upgrade', ({ url }, socket) =>
    url === '/hangs-up' ? socket.destroy() : socket.end('HTTP/1.1 404 Not Found\r\n\r\n'),
  )
  await once(other, 'listening')
  otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
})
afterAll(async () => {
  await server.stop()
  await new Promise((resolve) => other.close(resolve))
})

let directory: string
let worker: LinkedWorker | null
let lines: string[]
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-not-connected-'))
  worker = null
  lines = []
})
afterEach(async () => {
  await worker?.end()
  await expectNothingLeft()
  rmSync(directory, { recursive: true })
})

function connect(token: string, url = server.url, change: Partial<WorkerSettings> = {}): LinkedWorker {
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) })
  worker = new LinkedWorker({ directory, token, log, settings: { servers: { kind: 'list', urls: [url] }, ...change } })
  return worker
}

/** What its log says first, and the server's of this worker. */
async function told(): Promise<string> {
  await until(() => lines.length > 2, 'it has tried again and again')
  expect(new Set(lines).size).toBe(1)
  return lines[0] ?? ''
}

function serverSays(worker: string): Record<string, unknown>[] {
  return serverLines.filter((line) => line['worker'] === worker || line['subject'] === worker)
}

const tokenFile = () => path.join(directory, 'token')

test('a token that is not known there: by file and server, and once in the server’s log', async () => {
  connect('nonsense', server.url, { name: 'stranger' })
  expect(await told()).toBe(
    `not connected to ${server.url}: The token in ${tokenFile()} is not known there (4401 Unauthorized: the server does not know this token): copy a server's worker-token to that file.`,
  )
  expect(serverSays('stranger')).toMatchObject([
    {
      address: '127.0.0.1',
      msg: expect.stringMatching(/^A worker is refused\. Its token is not known here: copy this server's worker-token/),
    },
  ])
})

test('an empty token', async () => {
  connect(' ')
  expect(await told()).toBe(
    `not connected: The file ${tokenFile()} (XCE_WORKER_TOKEN_FILE) is empty: copy a server's worker-token to it.`,
  )
})

test('a token of another role', async () => {
  connect(await createToken(server.app.database, { subject: 'prometheus', roles: ['metrics'] }))
  const refusal =
    "prometheus may not use Mutation.registerWorker: it has the role metrics. Use a token with the role worker, such as a server's worker-token."
  expect(await told()).toBe(`not connected to ${server.url}: ${refusal} The token is the one in ${tokenFile()}.`)
  expect(serverSays('prometheus')).toMatchObject([{ msg: `A worker is refused. ${refusal}` }])
})

test('a name that another worker has; what runs on meanwhile, and what to do about it', async () => {
  const token = await createToken(server.app.database, { subject: 'workers', roles: ['worker'] })
  const { supervisor } = connect(token, server.url, { name: 'taken', host: 'taken' })
  expect(await told()).toMatch(
    /A worker named taken is registered already, with another state directory, on host taken: .* of taken\.$/,
  )
  expect(serverSays('taken')).toMatchObject([
    { host: 'taken', subject: 'workers', msg: expect.stringContaining('registered already') },
  ])
  supervisor.assign(assignmentOf())
  await until(() => lines.some((line) => line.includes('An earlier replica runs on here')), 'it says what runs on')
  expect(lines.at(-1)).toMatch(/names those to stop; SIGUSR2 stops everything now\.$/)
})

describe('what is no server', () => {
  test('another path of one', async () => {
    const url = server.at('/graphq')
    connect('nonsense', url)
    expect(await told()).toBe(
      `not connected to ${url}: There is no WebSocket: the answer is HTTP status 404: see whether it is the URL of a server, such as http://10.0.0.1:4000.`,
    )
  })

  test('another service', async () => {
    const url = `${otherUrl}/hangs-up`
    connect('nonsense', url)
    expect(await told()).toBe(
      `not connected to ${url}: There is no WebSocket of a server (socket hang up): see whether it is the URL of a server, such as http://10.0.0.1:4000, and https:// where it is behind TLS.`,
    )
  })

  test('https where plain HTTP is spoken', async () => {
    const url = server.url.replace('http:', 'https:')
    connect('nonsense', url)
    expect(await told()).toBe(
      `not connected to ${url}: What answers does not speak HTTPS (EPROTO): a server speaks plain HTTP, so write http:// in the URL.`,
    )
  })
})

test.each([
  [
    { code: 1013, reason: 'The token could not be checked: try again later.' },
    "The token could not be checked there, as a rule because the server's database does not answer (1013 The token could not be checked: try again later): see its log.",
  ],
  [{ code: 1012, reason: '' }, 'The server closed the connection (1012).'],
  [{ message: 'connect ECONNREFUSED 127.0.0.1:1' }, 'The connection failed: connect ECONNREFUSED 127.0.0.1:1.'],
  [{ message: '', error: { code: 'ECONNREFUSED' } }, 'The connection failed: ECONNREFUSED.'],
  [
    { message: 'Unexpected server response: 503' },
    "There is no WebSocket: the answer is HTTP status 503, from a server or proxy that can't serve now.",
  ],
])('%j', (cause, sentence) => {
  expect(connectFault(cause, '/token')).toBe(sentence)
})

test('a server says which lease it gives, before anything is asked', async () => {
  const { token } = server.client
  const connection = await Connection.open(
    { url: server.url, token: token ?? '', tokenFile: '', worker: 'w' },
    AbortSignal.timeout(10_000),
  )
  expect(connection.greeting).toEqual({
    workerProtocol: { oldest: expect.any(Number), newest: expect.any(Number) },
    workerLease: { leaseSeconds: 3_599, graceSeconds: 59 },
  })
  connection.close()
})
