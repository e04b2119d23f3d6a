import { readFileSync } from 'node:fs'
import { buildSchema, isAbstractType } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestServer } from '../support/drivers/testServer.ts'

const printed = readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')
let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

test('the schema is told without a token, once', async () => {
  const response = await fetch(server.at('/schema.graphql'))
  expect(response.status).toBe(200)
  expect(await response.text()).toBe(printed)
  const headers = { 'if-none-match': response.headers.get('etag') ?? '' }
  expect((await fetch(server.at('/schema.graphql'), { headers })).status).toBe(304)
  const head = await fetch(server.at('/schema.graphql'), { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('possibleTypes has each interface and union of the schema with all its types', async () => {
  const told = await (await fetch(server.at('/possibleTypes.json'))).json()
  const schema = buildSchema(printed)
  const abstract = Object.values(schema.getTypeMap()).filter(isAbstractType)
  expect(Object.keys(told).sort()).toEqual(abstract.map(({ name }) => name).sort())
  for (const type of abstract)
    expect(new Set(told[type.name])).toEqual(new Set(schema.getPossibleTypes(type).map(({ name }) => name)))
})
