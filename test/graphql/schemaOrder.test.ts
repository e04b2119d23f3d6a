import { expect, test } from 'vitest'
import { nounOf } from '../../src/graphql/kit/schemaOrder.ts'
import { schema, workerSchema } from '../../src/graphql/schema.ts'

const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]

test('each root field of the users API has a noun, and those of one noun stand together', () => {
  for (const root of roots) {
    const places = Object.keys(root?.getFields() ?? {}).map((name) => [name, nounOf(name)] as const)
    const last = nounOf('nothing of these')
    expect(places.filter(([, place]) => place === last)).toEqual([])
    expect(places.map(([, place]) => place)).toEqual(places.map(([, place]) => place).toSorted((one, two) => one - two))
  }
})

test('what belongs to a noun stands behind its type', () => {
  const names = Object.keys(schema.getTypeMap())
  const inOrder = [
    'Service',
    'CreateServiceInput',
    'ServiceChange',
    'Replica',
    'KillReplicaInput',
    'Host',
    'DrainHostInput',
  ]
  const places = inOrder.map((name) => names.indexOf(name))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((one, two) => one - two))
})

test('each of the two schemas says what it is', () => {
  expect(schema.description).toContain('The way to a first service')
  expect(workerSchema.description).toContain('The protocol between a server and its workers')
})

test('the tour names only what the schema has', () => {
  const fields = new Set(roots.flatMap((root) => Object.keys(root?.getFields() ?? {})))
  const named = schema.description?.match(/\b[a-z]+[A-Z][A-Za-z]+\b/g) ?? []
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !fields.has(name))).toEqual([])
})
