import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReplicaId, WorkerId } from '../../../src/model/id.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { LogRelay } from '../../../src/systems/logs/logRelay.ts'
import { LogRequests } from '../../../src/systems/logs/logRequests.ts'
import type { LogRequest } from '../../../src/systems/logs/logText.ts'
import { freshPostgreSQL, silent, type TestDatabase } from '../../support/fixtures/databases.ts'
import { until } from '../../support/fixtures/until.ts'

const worker = 'worker' as WorkerId
const replica = 'replica' as ReplicaId

let home: TestDatabase
const databases: Database[] = []
const servers: LogRequests[] = []
beforeEach(async () => {
  home = await freshPostgreSQL()
})
afterEach(async () => {
  for (const requests of servers.splice(0)) await requests.stop()
  for (const database of databases.splice(0)) await database.close()
  await home.drop()
})

async function newServer(): Promise<LogRequests> {
  const database = await home.open()
  const requests = new LogRequests(randomUUID, new LogRelay({ database, log: silent, newId: randomUUID }))
  databases.push(database)
  servers.push(requests)
  await requests.start()
  return requests
}

test('the worker is connected to another server, and answers there: the reader gets all of it, however large it is', async () => {
  const [asked, holder, third] = [await newServer(), await newServer(), await newServer()]
  const heard: LogRequest[] = []
  holder.follow(worker, (request) => heard.push(request))
  const text = {
    stdout: Array.from({ length: 3_000 }, () => randomBytes(40).toString('hex')),
    stderr: ['é "\n'],
    truncated: true,
  }
  const reading = asked.request(worker, replica, 3_000)
  const request = await until(() => heard[0], 'the other server is asked')
  expect(request).toMatchObject({ replica, tailLines: 3_000 })
  expect(holder.answer('other' as WorkerId, request.id, text)).toBe(false)
  expect(holder.answer(worker, request.id, text)).toBe(true)
  expect(await reading).toEqual(text)
  expect(holder.answer(worker, request.id, text)).toBe(false)
  // It may have gone on to a third one in between.
  const again = asked.request(worker, replica, 1)
  const second = await until(() => heard[1], 'the other server is asked again')
  expect(third.answer(worker, second.id, { ...text, stdout: [] })).toBe(true)
  expect(await again).toMatchObject({ stdout: [] })
})

test('what is no message of a server is passed over', async () => {
  const [asked, holder] = [await newServer(), await newServer()]
  for (const { prisma } of databases.slice(0, 1))
    await prisma.$queryRaw`SELECT count(pg_notify('xce_log_requests', 'nonsense')) AS sent`
  holder.follow(worker, ({ id }) => void holder.answer(worker, id, { stdout: ['a'], stderr: [], truncated: false }))
  expect(await asked.request(worker, replica, 1)).toMatchObject({ stdout: ['a'] })
})
