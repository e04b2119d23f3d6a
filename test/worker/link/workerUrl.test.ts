import { expect, test } from 'vitest'
import { workerUrl } from '../../../src/worker/link/workerUrl.ts'

test.each([
  ['http://10.0.0.1:4000', 'ws://10.0.0.1:4000/worker'],
  ['http://10.0.0.1:4000/graphql', 'ws://10.0.0.1:4000/worker'],
  ['https://services.example.com/xce/graphql/', 'wss://services.example.com/xce/worker'],
  ['wss://services.example.com/xce/worker?key=1', 'wss://services.example.com/xce/worker?key=1'],
])('the worker’s protocol of the server %s is at %s', (server, url) => {
  expect(workerUrl(server)).toBe(url)
})
