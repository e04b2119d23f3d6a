import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const audits = serverAudits({
  url: () => server.url,
  fetchFn: (input: string | URL, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${server.client.token}`)
    return fetch(input, { ...init, headers })
  },
})

test('the suite is whole', () => {
  expect(audits.length).toBe(61)
})

test.each(audits)('GraphQL over HTTP: the server $name', async ({ fn }) => {
  const result = await fn()
  expect({ status: result.status, reason: 'reason' in result ? result.reason : null }).toEqual({
    status: 'ok',
    reason: null,
  })
})
