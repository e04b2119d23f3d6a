import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReplicaId, WorkerId } from '../../../src/model/id.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { LogRelay, type LogRequest } from '../../../src/systems/logs/logRelay.ts'
import { LogRequests } from '../../../src/systems/logs/logRequests.ts'
import { askingServer } from '../../../src/systems/logs/requestId.ts'
import { freshPostgreSQL, silent, type TestDatabase } from '../../support/fixtures/databases.ts'
import { logAnswer, logQuestion, printed } from '../../support/fixtures/logAnswers.ts'
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
  const lines = Array.from({ length: 3_000 }, () => randomBytes(40).toString('hex'))
  const text = logAnswer({
    runs: [
      { stream: 'STDOUT', at: 1, start: 2, lines, cut: true },
      { stream: 'STDERR', at: null, start: null, lines: ['é "\n'], cut: false },
    ],
    truncated: true,
    skippedBytes: 7,
    position: 'here',
  })
  const question = logQuestion({ tailLines: 3_000, after: 'there', since: 5 })
  const reading = asked.ask(worker, replica, question)
  const request = await until(() => heard[0], 'the other server is asked')
  expect(request).toEqual({ ...question, id: request.id, replica })
  expect(holder.answer(worker, request.id, text)).toBe(true)
  expect(await reading).toEqual(text)
  expect(asked.answer(worker, request.id, text)).toBe(false)
})

test('the worker answers at a third server, which has not heard of the request yet: the reader gets it', async () => {
  const [asked, holder, third] = [await newServer(), await newServer(), await newDeafServer()]
  const heard: LogRequest[] = []
  holder.follow(worker, (request) => heard.push(request))
  const reading = asked.ask(worker, replica, logQuestion())
  const { id } = await until(() => heard[0], 'the other server is asked')
  expect(third.answer(worker, id, printed('a'))).toBe(true)
  expect(await reading).toEqual(printed('a'))
})

test('an answer of another worker is passed over, at whatever server it is given', async () => {
  const [asked, holder, third] = [await newServer(), await newServer(), await newDeafServer()]
  const heard: LogRequest[] = []
  holder.follow(worker, (request) => heard.push(request))
  const reading = asked.ask(worker, replica, logQuestion())
  const { id } = await until(() => heard[0], 'the other server is asked')
  const other = 'other' as WorkerId
  const foreign = printed('of another')
  expect(asked.answer(other, id, foreign)).toBe(false)
  const passed: string[] = []
  await databases[2]?.listen(`xce_log_answers_${askingServer(id)}`, (message) => passed.push(message))
  third.answer(other, id, foreign)
  await until(() => passed.length > 0, 'the foreign answer was sent')
  third.answer(worker, id, printed('a'))
  expect(await reading).toEqual(printed('a'))
})

test('a worker that comes to another server meanwhile is asked there, once', async () => {
  const [asked, next] = [await newServer(), await newServer()]
  const heard: LogRequest[] = []
  const leave = asked.follow(worker, (request) => heard.push(request))
  const reading = asked.ask(worker, replica, logQuestion())
  expect(heard).toHaveLength(1)
  leave()
  let again: LogRequest | null = null
  await until(() => {
    next.follow(worker, (request) => {
      again = request
    })()
    return again
  }, 'the other server has heard of it')
  expect(again).toEqual(heard[0])
  expect(next.answer(worker, heard[0]?.id ?? '', printed('a'))).toBe(true)
  expect(await reading).toEqual(printed('a'))
  next.follow(worker, () => expect.unreachable())
})

test('an id that no server has given is refused', async () => {
  const server = await newServer()
  for (const id of ['', 'id', `${randomUUID()}`, `x~${randomUUID()}`, `${randomUUID()}~${randomUUID()}~`])
    expect(server.answer(worker, id, logAnswer())).toBe(false)
})

test('what is no message of a server is passed over', async () => {
  const [asked, holder] = [await newServer(), await newServer()]
  for (const { prisma } of databases.slice(0, 1))
    await prisma.$queryRaw`SELECT count(pg_notify('xce_log_requests', 'nonsense')) AS sent`
  holder.follow(worker, ({ id }) => void holder.answer(worker, id, printed('a')))
  expect(await asked.ask(worker, replica, logQuestion())).toEqual(printed('a'))
})
