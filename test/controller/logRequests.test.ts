import { expect, test } from 'vitest'
import { type LogRequest, LogRequests } from '../../src/controller/logRequests.ts'
import type { HostId, ReplicaId } from '../../src/model/id.ts'

const host = 'host' as HostId
const replica = 'replica' as ReplicaId
const text = { stdout: ['a'], stderr: [], truncated: false }

function newRequests(): LogRequests {
  let ids = 0
  return new LogRequests(() => `id-${++ids}`)
}

test('where nobody follows the host there is no answer, and no wait for one', async () => {
  expect(await newRequests().request(host, replica, 10)).toBeNull()
})

test('the worker’s answer is the reader’s; a second one finds nobody', async () => {
  const requests = newRequests()
  const asked: LogRequest[] = []
  requests.follow(host, (request) => asked.push(request))
  const reading = requests.request(host, replica, 10)
  expect(asked).toEqual([{ id: 'id-1', replica, tailLines: 10 }])
  expect(requests.answer(host, 'id-1', text)).toBe(true)
  expect(await reading).toEqual(text)
  expect(requests.answer(host, 'id-1', text)).toBe(false)
})

test('another host cannot answer', async () => {
  const requests = newRequests()
  requests.follow(host, () => undefined)
  const reading = requests.request(host, replica, 10)
  expect(requests.answer('other' as HostId, 'id-1', text)).toBe(false)
  await requests.stop()
  expect(await reading).toBeNull()
})

test('who has left is not asked any more', async () => {
  const requests = newRequests()
  const leave = requests.follow(host, () => expect.unreachable())
  leave()
  expect(await requests.request(host, replica, 10)).toBeNull()
})
