import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  parse,
} from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { createContext } from '../../src/graphql/kit/context.ts'
import { schema } from '../../src/graphql/schema.ts'
import { subscribe } from '../../src/graphql/subscribe/subscribe.ts'
import { freshEmbedded, freshPostgreSQL } from '../support/fixtures/databases.ts'
import { type Reads, readsOf } from '../support/fixtures/readsOf.ts'
import { type Api, admin, documentOf, openApi, withProfile, withService } from './api.ts'
import { type DocumentedOperation, documentedOperations } from './documentedOperations.ts'

// The deletion comes last, so that the others find the service.
const operations = documentedOperations().toSorted((one, other) => +isDeletion(one) - +isDeletion(other))

test('the operations of the documents are found', () => {
  expect(new Set(operations.map(({ kind }) => kind))).toEqual(new Set(['query', 'mutation', 'subscription']))
  expect(operations.length).toBeGreaterThanOrEqual(11)
})

// Embedded, inserting takes ten times as long.
describe.each([
  ['on the embedded database, 100 services of 100 replicas', freshEmbedded, 100],
  ['on PostgreSQL, 100 services of 1,000 replicas', freshPostgreSQL, 1_000],
] as const)('%s', (_name, fresh, replicas) => {
  const few = openApi(fresh)
  const many = openApi(fresh)
  beforeAll(async () => {
    await fill(few(), 2, 2)
    await fill(many(), 100, replicas)
  })

  test('every operation of the documents sends as many statements as where there is little, and reads what it returns', async () => {
    for (const operation of operations) {
      const small = await readsOf(few().app.database, () => answerOf(few(), operation))
      const large = await readsOf(many().app.database, () => answerOf(many(), operation))
      const isQuery = operation.kind === 'query'
      // The tail reads the facts of a mutation, in one page or in two.
      expect(large.statements, operation.name).toBeLessThanOrEqual(small.statements + (isQuery ? 0 : 3))
      expect(large.statements, operation.name).toBeLessThanOrEqual(isQuery ? 5 : 15)
      // A commit may look at each service, never at each replica.
      expect(large.rows, operation.name).toBeLessThanOrEqual(isQuery ? 2 * objectsIn(large.result) + 10 : 500)
      await endMany(many(), 'web', 1_000)
    }
  })

  test('5 replicas of each of 100 services: two statements, and no more rows than are shown, with one of each to know of more', async () => {
    const document =
      '{ services(first: 100) { nodes { replicas(first: 5) { nodes { index } pageInfo { hasNextPage } } } } }'
    const { result, statements, rows } = await readsOf(many().app.database, () => many().data(document))
    expect(result.services.nodes).toHaveLength(100)
    expect(objectsIn(result.services.nodes)).toBeGreaterThan(100 * 5)
    expect(statements).toBe(2)
    expect(rows).toBeLessThanOrEqual(101 + 100 * 6)
  })

  test('the hosts of 500 replicas: one statement more, and the rows of the hosts', async () => {
    const ask = (selection: string) =>
      readsOf(many().app.database, () =>
        many().data(`{ services(first: 100) { nodes { replicas(first: 5) { nodes { index ${selection} } } } } }`),
      )
    const plain = await ask('')
    const hosts = await ask('host { name } service { name } version { number }')
    expect(hosts.statements).toBe(plain.statements + 3)
    expect(hosts.returned).toBeLessThanOrEqual(plain.returned + 20 + 100 + 100)
    expect(hosts.bytes).toBeLessThan(plain.bytes + 220 * 2_048)
  })
})

describe('where there are 20 of everything', () => {
  const api = openApi()
  beforeAll(async () => {
    await fill(api(), 20, 4)
    const twenty = Array.from({ length: 20 }, (_, number) => number)
    await Promise.all(twenty.map((number) => withProfile(api(), { name: `profile-${number}` })))
    await Promise.all(twenty.map((number) => withService(api(), `plain-${number}`, { profile: `profile-${number}` })))
    await Promise.all(
      twenty.map((number) => api().data(documentOf('applyProject'), { input: { name: `project-${number}` } })),
    )
    await Promise.all(
      twenty.map((priority) =>
        api().data(documentOf('applyQueue'), { input: { name: `queue-${priority}`, priority } }),
      ),
    )
  })

  test('no field of any type sends a statement for each of its parents', async () => {
    const perParent: string[] = []
    for (const [name, document] of documentsOfAllFields()) {
      const reads: Reads[] = []
      for (const first of [2, 20]) reads.push(await readsOf(api().app.database, () => api().data(document, { first })))
      const [small, large] = reads.map(({ statements }) => statements)
      // Some more, where the first ones have nothing to read.
      if ((large ?? 0) > (small ?? 0) + 9) perParent.push(`${name}: ${small} statements for 2 parents, ${large} for 20`)
    }
    expect(perParent).toEqual([])
  })

  test('an object that others lead to costs its own row: those that lead to it are not read again', async () => {
    const dear: string[] = []
    for (const [name, leaf, field] of referencesOfNodes()) {
      const ask = (selection: string) =>
        readsOf(api().app.database, () => api().data(`{ ${name}(first: 20) { nodes { ${selection} } } }`))
      const without = await ask(leaf)
      const { returned, bytes, statements } = await ask(`${leaf} ${field} { __typename }`)
      // At most one row of each, in at most two statements: a rollout's and an endpoint's service first.
      if (returned > without.returned + 20 || statements > without.statements + 2 || bytes > without.bytes + 20 * 8_192)
        dear.push(`${name}.${field}: ${returned - without.returned} rows, ${bytes - without.bytes} bytes more`)
    }
    expect(dear).toEqual([])
  })
})

function isDeletion({ document }: DocumentedOperation): boolean {
  return document.includes('deleteService(')
}

/** What the operation answers; of a subscription the first frame. */
async function answerOf({ app, data }: Api, { kind, document }: DocumentedOperation): Promise<unknown> {
  if (kind !== 'subscription') return data(document)
  const frames = await subscribe({ schema, document: parse(document), contextValue: createContext(app, admin) })
  if (!(Symbol.asyncIterator in frames)) throw new Error(JSON.stringify(frames))
  const first = await frames.next()
  await frames.return(undefined)
  return first.value
}

function objectsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).reduce<number>((sum, part) => sum + objectsIn(part), 0)
  return inner + (Array.isArray(value) ? 0 : 1)
}

/** For every field of the nodes of every connection of the query type, a document that asks for all that is two steps from there. */
function documentsOfAllFields(): ReadonlyMap<string, string> {
  const documents = new Map<string, string>()
  for (const root of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const node = nodeOf(root)
    if (node === null) continue
    for (const field of Object.values(node.getFields())) {
      if (!canBeAsked(field)) continue
      documents.set(
        `${root.name}.${field.name}`,
        `query Ask($first: Int) { ${root.name}(first: $first) { nodes { ${selectionOf(field, 2)} } } }`,
      )
    }
  }
  return documents
}

/** Each field of a connection's nodes that is one object, after a field of the same nodes that is none. */
function referencesOfNodes(): readonly (readonly [root: string, leaf: string, field: string])[] {
  return Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((root) => {
    const fields = Object.values(nodeOf(root)?.getFields() ?? {}).filter(canBeAsked)
    const leaf = fields.find(({ type }) => isLeafType(getNamedType(type)))?.name ?? '__typename'
    return fields
      .filter(({ type }) => !isListType(getNullableType(type)) && isObjectType(getNamedType(type)))
      .filter((field) => nodeOf(field) === null)
      .map(({ name }) => [root.name, leaf, name] as const)
  })
}

/** The nodes' type, where the field is a connection. */
function nodeOf({ type }: GraphQLField<unknown, unknown>): GraphQLObjectType | null {
  const connection = getNamedType(type)
  if (!isObjectType(connection) || !connection.name.endsWith('Connection')) return null
  const node = getNamedType(connection.getFields()['nodes']?.type)
  return isObjectType(node) ? node : null
}

/** A log is asked of workers, not of the database. */
function canBeAsked({ name, args }: GraphQLField<unknown, unknown>): boolean {
  return name !== 'log' && !args.some(isRequiredArgument)
}

function selectionOf(field: GraphQLField<unknown, unknown>, steps: number): string {
  const type = getNamedType(field.type)
  if (isLeafType(type)) return field.name
  const node = nodeOf(field)
  const selected = node ?? (isObjectType(type) ? type : null)
  const fields = Object.values(selected?.getFields() ?? {}).filter(canBeAsked)
  const parts = fields
    .filter((inner) => steps > 0 || isLeafType(getNamedType(inner.type)))
    .map((inner) => selectionOf(inner, steps - 1))
  const selection = `{ __typename ${parts.join(' ')} }`
  return node === null ? `${field.name} ${selection}` : `${field.name}(first: 2) { nodes ${selection} }`
}

const id = (kind: string, number: string) => `${kind} || '-0000-7000-8000-' || lpad(to_hex(${number}), 12, '0')`

/** Services with their versions, rollouts and replicas, of which half have ended, on 20 hosts. */
async function fill(api: Api, services: number, replicas: number): Promise<void> {
  const { prisma } = api.app.database
  const run = (text: string) => prisma.$executeRawUnsafe(text)
  await withProfile(api)
  await withService(api, 'model')
  const serviceId = id(`'00000001'`, 's')
  await run(`INSERT INTO "Host" ("id", "name", "addresses", "schedulingSince", "reachabilitySince", "cpuMillis", "memoryMiB", "portFrom", "portTo", "reservedPorts", "createdAt")
    SELECT ${id(`'00000002'`, 'h')}, 'host-' || h, ARRAY['10.0.0.' || h], now(), now(), 1000, 1000, 20000, 32000, '{}', now() FROM generate_series(0, 19) h`)
  await run(`INSERT INTO "Worker" ("id", "hostId", "name", "epoch", "leaseUntil", "reachabilitySince", "cpuMillis", "memoryMiB", "softwareVersion", "protocolVersion", "subject", "stateDirectoryId", "registrationNumber", "registeredAt", "lastSeenAt")
    SELECT "id", "id", "name", 1, now() + interval '1 day', now(), 1000, 1000, '1', 1, 'worker', 'of ' || "name", 1, now(), now() FROM "Host"`)
  for (const [table, own] of [
    ['Service', `'id', ${serviceId}, 'name', 'service-' || s, 'heldName', 'service-' || s`],
    ['ServiceVersion', `'id', ${id(`'00000003'`, 's')}, 'serviceId', ${serviceId}`],
    ['Rollout', `'id', ${id(`'00000004'`, 's')}, 'serviceId', ${serviceId}`],
  ]) {
    await run(
      `INSERT INTO "${table}" SELECT (jsonb_populate_record(m, jsonb_build_object(${own}))).* FROM "${table}" m, generate_series(1, ${services}) s`,
    )
  }
  await run(`INSERT INTO "Replica" ("id", "serviceId", "index", "versionNumber", "contentNumber", "state", "ready", "hostId", "cpuMillis", "memoryMiB", "createdAt", "endedAt", "ports")
    SELECT ${id(`lpad(to_hex(s), 8, '0')`, 'r')}, ${serviceId}, r, 1, 1, (CASE WHEN r % 2 = 0 THEN 'RUNNING' ELSE 'ENDED' END)::"ReplicaState", r % 2 = 0,
      ${id(`'00000002'`, 'r % 20')}, 10, 10, now(), CASE WHEN r % 2 = 1 THEN now() END, '[{"name": "http", "port": 20000, "protocol": "TCP"}]'
    FROM generate_series(1, ${services}) s, generate_series(0, ${replicas - 1}) r`)
  await run('ANALYZE')
}

/** Gives the service, once it exists, replicas that have ended. */
async function endMany({ app }: Api, service: string, replicas: number): Promise<void> {
  await app.database.prisma.$executeRawUnsafe(`
    INSERT INTO "Replica" ("id", "serviceId", "index", "versionNumber", "contentNumber", "state", "cpuMillis", "memoryMiB", "createdAt", "endedAt")
    SELECT ${id(`'10000000'`, 'r')}, s."id", 0, 1, 1, 'ENDED', 10, 10, now(), now() FROM "Service" s, generate_series(1, ${replicas}) r
    WHERE s."name" = '${service}' ON CONFLICT DO NOTHING`)
}
