import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Logger, pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LocalWorker } from '../../../src/systems/localWorker/localWorker.ts'
import { built } from '../../support/fixtures/built.ts'
import { endProcessesWith, processesWith } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-local-worker-'))
})
afterEach(async () => {
  await endProcessesWith(directory)
  rmSync(directory, { recursive: true, force: true })
})

function localWorker(over: { stopReplicas?: boolean; env?: NodeJS.ProcessEnv; log?: Logger } = {}): LocalWorker {
  const options = {
    program: built('worker.js'),
    dataDirectory: directory,
    stopReplicas: false,
    host: '127.0.0.1',
    env: process.env,
  }
  return new LocalWorker({ log: pino({ level: 'silent' }), ...options, ...over })
}

/** What a server says of its local worker. */
function listening(): { readonly log: Logger; readonly lines: string[] } {
  const lines: string[] = []
  return {
    lines,
    log: pino({ level: 'warn' }, { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) }),
  }
}

test.each([true, false])(
  'a worker that was only just started ends with the server (stopping replicas: %s)',
  async (stopReplicas) => {
    const worker = localWorker({ stopReplicas })
    await worker.start()
    await until(() => processesWith(directory).length > 0, 'the worker is a process')
    await worker.stop()
    await until(() => processesWith(directory).length === 0, 'it is gone')
  },
)

test('a stop in any moment of the start ends, and leaves no worker', async () => {
  const worker = localWorker()
  await worker.start()
  await worker.stop()
  await until(() => processesWith(directory).length === 0, 'it is gone')
})

test('a worker of before that runs on is told with the settings that are others now; one with the same is not', async () => {
  const before = {
    PATH: process.env['PATH'],
    XCE_WORKER_PORT_RANGE: '31000-31099',
    XCE_LOG_LEVEL: 'warn',
    XCE_LOG_FORMAT: 'pretty',
    XCE_PORT: '1',
  }
  const first = localWorker({ env: before })
  await first.start()
  const lock = path.join(directory, 'worker', 'lock')
  const pid = await until(() => (existsSync(lock) && readFileSync(lock, 'utf8').trim()) || null, 'it runs')

  const same = listening()
  const second = localWorker({ env: { ...before, XCE_PORT: '2', XCE_WORKER_NAME: '' }, log: same.log })
  await second.start()
  const other = listening()
  const third = localWorker({
    env: { ...before, XCE_WORKER_PORT_RANGE: '31200-31299', XCE_WORKER_NAME: 'b' },
    log: other.log,
  })
  await third.start()
  await until(() => other.lines.length > 0, 'it is told')
  expect(other.lines).toEqual([
    `The local worker runs on with the settings of its own start: XCE_WORKER_NAME was not set and is "b"; XCE_WORKER_PORT_RANGE was "31000-31099" and is "31200-31299". Send it SIGTERM (kill ${pid}), and it is started with those of now; its replicas run on.`,
  ])
  expect(same.lines).toEqual([])
  await Promise.all([first, second, third].map((worker) => worker.stop()))
})
