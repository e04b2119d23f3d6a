import { expect, test } from 'vitest'
import type { ReplicaId, WorkerId } from '../../../src/model/id.ts'
import type { LogRequest } from '../../../src/systems/logs/logRelay.ts'
import { LogRequests } from '../../../src/systems/logs/logRequests.ts'
import { logQuestion, printed } from '../../support/fixtures/logAnswers.ts'

const worker = 'worker' as WorkerId
const replica = 'replica' as ReplicaId
const question = logQuestion({ tailLines: 10 })
const text = printed('a')

function newRequests(): LogRequests {
  let ids = 0
  return new LogRequests(() => `id-${++ids}`)
}

test('where nobody follows the worker there is no answer, and no wait for one', async () => {
  expect(await newRequests().ask(worker, replica, question)).toBeNull()
})

test('the worker’s answer is the reader’s; a second one finds nobody', async () => {
  const requests = newRequests()
  const asked: LogRequest[] = []
  requests.follow(worker, (request) => asked.push(request))
  const reading = requests.ask(worker, replica, question)
  expect(asked).toEqual([{ ...question, id: 'id-1', replica }])
  expect(requests.answer(worker, 'id-1', text)).toBe(true)
  expect(await reading).toEqual(text)
  expect(requests.answer(worker, 'id-1', text)).toBe(false)
})

test('another worker cannot answer', async () => {
  const requests = newRequests()
  requests.follow(worker, () => undefined)
  const reading = requests.ask(worker, replica, question)
  expect(requests.answer('other' as WorkerId, 'id-1', text)).toBe(false)
  await requests.stop()
  expect(await reading).toBeNull()
})

test('a reader that leaves waits no longer, and its answer finds nobody', async () => {
  const requests = newRequests()
  requests.follow(worker, () => undefined)
  const leaving = new AbortController()
  const reading = requests.ask(worker, replica, logQuestion({ waitSeconds: 600 }), { signal: leaving.signal })
  leaving.abort()
  expect(await reading).toBeNull()
  expect(requests.answer(worker, 'id-1', text)).toBe(false)
  expect(await requests.ask(worker, replica, question, { signal: leaving.signal })).toBeNull()
})

test('a worker that connects again is asked again what it has not answered', async () => {
  const requests = newRequests()
  const leave = requests.follow(worker, () => undefined)
  const reading = requests.ask(worker, replica, question)
  leave()
  requests.follow('other' as WorkerId, () => expect.unreachable())
  requests.follow(worker, ({ id }) => requests.answer(worker, id, text))
  expect(await reading).toEqual(text)
  requests.follow(worker, () => expect.unreachable())
})

test('who has left is not asked any more', async () => {
  const requests = newRequests()
  const leave = requests.follow(worker, () => expect.unreachable())
  leave()
  expect(await requests.ask(worker, replica, question)).toBeNull()
})
