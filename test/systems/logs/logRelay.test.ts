import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReplicaId, WorkerId } from '../../../src/model/id.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { LogRelay } from '../../../src/systems/logs/logRelay.ts'
import { LogRequests } from '../../../src/systems/logs/logRequests.ts'
import type { LogRequest } from '../../../src/systems/logs/logText.ts'
import { askingServer } from '../../../src/systems/logs/requestId.ts'
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
  const requests = await newDeafServer()
  await requests.start()
  return requests
}

/** A server that hears nothing of the others, as one that a message has not reached yet. */
async function newDeafServer(): Promise<LogRequests> {
  const database = await home.open()
  const requests = new LogRequests(randomUUID, new LogRelay({ database, log: silent, newId: randomUUID }))
  databases.push(database)
  servers.push(requests)
  return requests
}

test('the worker is connected to another server, and answers there: the reader gets all of it, however large it is', async () => {
  const [asked, holder] = [await newServer(), await newServer()]
  const heard: LogRequest[] = []
  holder.follow(worker, (request) => heard.push(request))
  const text = {
    stdout: Array.from({ length: 3_000 }, () => randomBytes(40).toString('hex')),
    stderr: ['é "\n'],
    truncated: true,
    marks: [],
    starts: [],
  }
  const reading = asked.request(worker, replica, 3_000)
  const request = await until(() => heard[0], 'the other server is asked')
  expect(request).toMatchObject({ replica, tailLines: 3_000 })
  expect(holder.answer(worker, request.id, text)).toBe(true)
  expect(await reading).toEqual(text)
  expect(asked.answer(worker, request.id, text)).toBe(false)
})

test('the worker answers at a third server, which has not heard of the request yet: the reader gets it', async () => {
  const [asked, holder, third] = [await newServer(), await newServer(), await newDeafServer()]
  const heard: LogRequest[] = []
  holder.follow(worker, (request) => heard.push(request))
  const reading = asked.request(worker, replica, 1)
  const { id } = await until(() => heard[0], 'the other server is asked')
  expect(third.answer(worker, id, { stdout: ['a'], stderr: [], truncated: false, marks: [], starts: [] })).toBe(true)
  expect(await reading).toMatchObject({ stdout: ['a'] })
})

test('an answer of another worker is passed over, at whatever server it is given', async () => {
  const [asked, holder, third] = [await newServer(), await newServer(), await newDeafServer()]
  const heard: LogRequest[] = []
  holder.follow(worker, (request) => heard.push(request))
  const reading = asked.request(worker, replica, 1)
  const { id } = await until(() => heard[0], 'the other server is asked')
  const other = 'other' as WorkerId
  const foreign = { stdout: ['of another'], stderr: [], truncated: false, marks: [], starts: [] }
  expect(asked.answer(other, id, foreign)).toBe(false)
  const passed: string[] = []
  await databases[2]?.listen(`xce_log_answers_${askingServer(id)}`, (message) => passed.push(message))
  third.answer(other, id, foreign)
  await until(() => passed.length > 0, 'the foreign answer was sent')
  third.answer(worker, id, { ...foreign, stdout: ['a'] })
  expect(await reading).toMatchObject({ stdout: ['a'] })
})

test('an id that no server has given is refused', async () => {
  const server = await newServer()
  for (const id of ['', 'id', `${randomUUID()}`, `x~${randomUUID()}`, `${randomUUID()}~${randomUUID()}~`])
    expect(server.answer(worker, id, { stdout: [], stderr: [], truncated: false, marks: [], starts: [] })).toBe(false)
})

test('what is no message of a server is passed over', async () => {
  const [asked, holder] = [await newServer(), await newServer()]
  for (const { prisma } of databases.slice(0, 1))
    await prisma.$queryRaw`SELECT count(pg_notify('xce_log_requests', 'nonsense')) AS sent`
  holder.follow(
    worker,
    ({ id }) => void holder.answer(worker, id, { stdout: ['a'], stderr: [], truncated: false, marks: [], starts: [] }),
  )
  expect(await asked.request(worker, replica, 1)).toMatchObject({ stdout: ['a'] })
})
