import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, test } from 'vitest'
import { LocalWorker } from '../../src/controller/localWorker.ts'
import { built } from '../support/built.ts'
import { endProcessesWith, processesWith } from '../support/processes.ts'
import { until } from '../support/until.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-local-worker-'))
})
afterEach(async () => {
  await endProcessesWith(directory)
  rmSync(directory, { recursive: true, force: true })
})

function localWorker(over: { stopReplicas?: boolean } = {}): LocalWorker {
  const options = { program: built('worker.js'), dataDirectory: directory, stopReplicas: false, address: '127.0.0.1', env: process.env }
  return new LocalWorker({ log: pino({ level: 'silent' }), ...options, ...over })
}

test.each([true, false])('a worker that was only just started ends with the server (stopping replicas: %s)', async (stopReplicas) => {
  const worker = localWorker({ stopReplicas })
  await worker.start()
  await until(() => processesWith(directory).length > 0, 'the worker is a process')
  await worker.stop()
  await until(() => processesWith(directory).length === 0, 'it is gone')
})

test('a stop in any moment of the start ends, and leaves no worker', async () => {
  const worker = localWorker()
  await worker.start()
  await worker.stop()
  await until(() => processesWith(directory).length === 0, 'it is gone')
})
