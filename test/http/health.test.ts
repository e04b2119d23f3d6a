import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

describe('without a token', () => {
  test('/healthz says that the server is alive', async () => {
    const response = await fetch(server.at('/healthz'))
    expect(response.status).toBe(200)
  })

  test('/readyz says that database and feed are there', async () => {
    const response = await fetch(server.at('/readyz'))
    expect([response.status, await response.text()]).toEqual([200, 'The server is ready.\n'])
  })

  test('/readyz says that the feed is not followed, and /healthz that the server lives all the same', async () => {
    const other = await TestServer.start()
    try {
      await other.app.tail.stop()
      const response = await fetch(other.at('/readyz'))
      expect([response.status, await response.text()]).toEqual([
        503,
        'The feed is not live: the server is not following the database.\n',
      ])
      expect((await fetch(other.at('/healthz'))).status).toBe(200)
    } finally {
      await other.stop()
    }
  })

  test('elsewhere there is nothing, and a sentence says where the API is', async () => {
    const response = await fetch(server.at('/nowhere'))
    expect(response.status).toBe(404)
    expect(await response.text()).toBe('There is nothing at /nowhere: the API and GraphiQL are at /graphql.\n')
  })
})

describe('GraphiQL', () => {
  const visit = (headers: Record<string, string> = {}) =>
    fetch(server.at('/graphql'), { headers: { accept: 'text/html,*/*', ...headers } })

  test('is whole from this server: nothing in the page is loaded from elsewhere', async () => {
    const response = await visit()
    expect(response.status).toBe(200)
    const page = await response.text()
    expect(page).toContain('<title>XCE Services</title>')
    // Up to the one inline script; what follows is that script's own text.
    const markup = page.slice(0, page.indexOf('<script>'))
    expect(markup).not.toBe('')
    for (const [, address] of markup.matchAll(/\b(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^data:/)
    expect(markup).not.toMatch(/@import|url\((?!["']?data:)/)
  })

  test('keeps no token in the browser, and sends it with subscriptions', async () => {
    const page = await (await visit()).text()
    expect(page).toContain('"shouldPersistHeaders":false')
    expect(page).toContain('"subscriptionsProtocol":"SSE"')
  })

  test('is sent once: the second visit is answered with 304', async () => {
    const etag = (await visit()).headers.get('etag') ?? ''
    const again = await visit({ 'if-none-match': etag })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  test('is sent compressed to those who take that', async () => {
    const response = await visit({ 'accept-encoding': 'gzip' })
    expect(response.headers.get('content-encoding')).toBe('gzip')
    expect(Number(response.headers.get('content-length'))).toBeLessThan(3_500_000)
    await response.body?.cancel()
  })
})
