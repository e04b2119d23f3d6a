import { expect, test } from 'vitest'
import type { ReplicaId, WorkerId } from '../../../src/model/id.ts'
import { LogRequests } from '../../../src/systems/logs/logRequests.ts'
import type { LogRequest } from '../../../src/systems/logs/logText.ts'

const worker = 'worker' as WorkerId
const replica = 'replica' as ReplicaId
const text = { stdout: ['a'], stderr: [], truncated: false, marks: [], starts: [] }

function newRequests(): LogRequests {
  let ids = 0
  return new LogRequests(() => `id-${++ids}`)
}

test('where nobody follows the worker there is no answer, and no wait for one', async () => {
  expect(await newRequests().request(worker, replica, 10)).toBeNull()
})

test('the worker’s answer is the reader’s; a second one finds nobody', async () => {
  const requests = newRequests()
  const asked: LogRequest[] = []
  requests.follow(worker, (request) => asked.push(request))
  const reading = requests.request(worker, replica, 10)
  expect(asked).toEqual([{ id: 'id-1', replica, tailLines: 10 }])
  expect(requests.answer(worker, 'id-1', text)).toBe(true)
  expect(await reading).toEqual(text)
  expect(requests.answer(worker, 'id-1', text)).toBe(false)
})

test('another worker cannot answer', async () => {
  const requests = newRequests()
  requests.follow(worker, () => undefined)
  const reading = requests.request(worker, replica, 10)
  expect(requests.answer('other' as WorkerId, 'id-1', text)).toBe(false)
  await requests.stop()
  expect(await reading).toBeNull()
})

test('who has left is not asked any more', async () => {
  const requests = newRequests()
  const leave = requests.follow(worker, () => expect.unreachable())
  leave()
  expect(await requests.request(worker, replica, 10)).toBeNull()
})
