import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '../../src/graphql/schema.ts'
import { graphiqlTabs } from '../../src/http/graphiqlTabs.ts'
import { TestServer } from '../support/drivers/testServer.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

/** Like a browser, without its decompression. */
async function visit(
  headers: Record<string, string> = {},
  path = '/graphql',
): Promise<{ response: IncomingMessage; body: Buffer }> {
  const sent = request(server.at(path), {
    headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', ...headers },
  }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { response, body: Buffer.concat(await response.toArray()) }
}

test('the page is whole, compressed, and known by its ETag', async () => {
  const zipped = await visit({ 'accept-encoding': 'gzip, br' })
  expect(zipped.response).toMatchObject({
    statusCode: 200,
    headers: { 'content-encoding': 'gzip', vary: expect.stringContaining('Accept-Encoding') },
  })
  expect(zipped.body.length).toBeLessThan(3_000_000)
  const plain = await visit()
  expect(plain.response.headers['content-encoding']).toBeUndefined()
  expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true)

  const { etag = '' } = zipped.response.headers
  expect(etag).not.toBe(plain.response.headers.etag)
  const again = await visit({ 'accept-encoding': 'gzip', 'if-none-match': etag })
  expect(again.response.statusCode).toBe(304)
  expect(again.body.length).toBe(0)
})

test('its own address with a query in it, as GraphiQL writes it, is the page too', async () => {
  const { response } = await visit({}, '/graphql?query=%7Bviewer%7Bsubject%7D%7D')
  expect(response).toMatchObject({ statusCode: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
})

test('a program that asks there without a token is refused', async () => {
  const { response } = await visit({ accept: 'application/json' }, '/graphql?query=%7Bviewer%7Bsubject%7D%7D')
  expect(response.statusCode).toBe(401)
})

test('the browser is told to run the scripts of the page only, and to send nothing elsewhere', async () => {
  const { response } = await visit()
  const policy = String(response.headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("connect-src 'self'")
  expect(policy).not.toMatch(/script-src[^;]*(unsafe|https?:|\*)/)
})

describe('an example tab', () => {
  test.each(graphiqlTabs.map(({ query }) => [/(?:query|mutation|subscription) (\w+)/.exec(query)?.[1] ?? '', query]))(
    '%s is valid',
    (name, query) => {
      expect(name).not.toBe('')
      expect(validate(schema, parse(query))).toEqual([])
    },
  )
})
