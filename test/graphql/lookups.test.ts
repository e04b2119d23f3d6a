import { type GraphQLEnumType, getNamedType, isInputObjectType } from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../src/graphql/kit/context.ts'
import { schema } from '../../src/graphql/schema.ts'
import { type Data, documentOf, openApi, withProfile, withService } from './api.ts'

const api = openApi()
const worker: Viewer = { subject: 'worker', roles: ['worker'] }
const names = ['b', 'a', 'd', 'c', 'e']

beforeAll(async () => {
  for (const [at, name] of names.entries()) {
    await withProfile(api(), { name })
    await withService(api(), name, { profile: name, replicas: 1 })
    await api().data(documentOf('applyProject'), { input: { name } })
    await api().data(documentOf('applyQueue'), { input: { name, priority: at % 2 } })
    const input = {
      name,
      host: name,
      addresses: [`10.0.0.${at + 1}`],
      cpuMillis: 1000,
      memoryMiB: 1024,
      portRange: { from: 20_000, to: 20_100 },
      softwareVersion: '1',
      protocolVersion: 1,
      stateDirectoryId: name,
      registrationNumber: 1,
      running: [],
    }
    await api().worker.data(documentOf('registerWorker'), { input }, worker)
  }
})

/** The connections of the schema that can be ordered, with the fields of their orders. */
const ordered = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap(({ name, args }) => {
  const order = args.find((argument) => argument.name === 'orderBy')
  const input = order && getNamedType(order.type)
  if (!isInputObjectType(input)) return []
  const field = getNamedType(input.getFields()['field']?.type) as GraphQLEnumType
  return field.getValues().map((value) => [name, value.name] as const)
})

describe('each order of each connection', () => {
  test.each(ordered)('%s by %s, page by page from both ends', async (connection, field) => {
    const page = (args: string) =>
      `{ ${connection}(${args}) { nodes { id name } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }`
    const pages = async (direction: string): Promise<string[]> => {
      const ids: string[] = []
      for (let after = ''; ; ) {
        const found = await api().data(page(`first: 2, orderBy: { field: ${field}, direction: ${direction} } ${after}`))
        ids.push(...found[connection].nodes.map(({ id }: Data) => id))
        const { endCursor, hasNextPage } = found[connection].pageInfo
        if (!hasNextPage) return ids
        after = `, after: "${endCursor}"`
      }
    }
    const up = await pages('ASC')
    expect(up.length).toBeGreaterThanOrEqual(names.length)
    expect(new Set(up).size).toBe(up.length)
    expect(await pages('DESC')).toEqual(up.toReversed())
  })

  test('there are some for each list', () => {
    expect(new Set(ordered.map(([name]) => name))).toEqual(
      new Set(['services', 'hosts', 'workers', 'profiles', 'projects', 'queues']),
    )
  })
})

test.each(['profiles', 'projects', 'queues', 'hosts', 'workers', 'services'])(
  '%s by their names',
  async (connection) => {
    const found = await api().data(
      `{ ${connection}(filter: { names: ["c", "a", "x"] }) { totalCount nodes { name } } }`,
    )
    expect(found[connection]).toEqual({ totalCount: 2, nodes: [{ name: 'a' }, { name: 'c' }] })
    const none = await api().data(`{ ${connection}(filter: { names: [] }) { totalCount nodes { name } } }`)
    expect(none[connection]).toEqual({ totalCount: 0, nodes: [] })
  },
)

test.each(['profile', 'project', 'queue', 'host', 'worker', 'service'])('one %s by its name or its id', async (one) => {
  const byName = (await api().data(`{ ${one}(name: "c") { id name } }`))[one]
  expect(byName.name).toBe('c')
  expect((await api().data(`query ($id: ID!) { ${one}(id: $id) { id name } }`, { id: byName.id }))[one]).toEqual(byName)
  expect((await api().data(`{ ${one}(name: "missing") { id } }`))[one]).toBeNull()
  for (const args of ['', '(name: "c", id: "x")', '(id: "nonsense")'])
    expect((await api().ask(`{ ${one}${args} { id } }`)).errors).toMatchObject([{ code: 'BAD_USER_INPUT' }])
})

test('workers by host and reachability', async () => {
  const { workers } = await api().data(
    '{ workers(filter: { hosts: ["a", "d"], reachabilities: [REACHABLE] }) { nodes { name host { name } } } }',
  )
  expect(workers.nodes).toEqual([
    { name: 'a', host: { name: 'a' } },
    { name: 'd', host: { name: 'd' } },
  ])
})

test('a replica and a rollout', async () => {
  const { replica } = await api().data('{ replica(service: { name: "a" }, index: 0) { id index } }')
  expect((await api().data('query ($id: ID!) { replica(id: $id) { id index } }', { id: replica.id })).replica).toEqual(
    replica,
  )
  expect(
    await api().data(
      '{ none: replica(service: { name: "a" }, index: 7) { id } gone: replica(service: { name: "x" }, index: 0) { id } }',
    ),
  ).toEqual({ none: null, gone: null })
  expect((await api().ask('{ replica(index: 0) { id } }')).errors).toMatchObject([{ code: 'BAD_USER_INPUT' }])
  const rollouts =
    '{ current: rollout(service: { name: "a" }) { number } first: rollout(service: { name: "a" }, number: 1) { number } none: rollout(service: { name: "a" }, number: 2) { number } gone: rollout(service: { name: "x" }) { number } }'
  expect(await api().data(rollouts)).toEqual({ current: { number: 1 }, first: { number: 1 }, none: null, gone: null })
})

// A cursor's values are compared as their types, so each connection has to be read beyond its first page.
test.each([
  ['services', ''],
  ['replicas', ''],
  ['rollouts', ''],
  ['events', ''],
  ['hosts', ''],
  ['versions', 'service(name: "paged")'],
  ['rollouts', 'service(name: "paged")'],
  ['events', 'service(name: "paged")'],
  ['replicas', 'service(name: "paged")'],
  ['revisions', 'profile(name: "paged")'],
])('the second page of %s of %s', async (connection, parent) => {
  await withProfile(api(), { name: 'paged', command: ['serve'] })
  await withProfile(api(), { name: 'paged', command: ['serve', '2'] })
  await withService(api(), 'paged', { profile: 'paged', replicas: 2 }).catch(() => undefined)
  const input = { service: { name: 'paged' }, command: ['serve', '3'] }
  await api().data(documentOf('updateService'), { input })
  const page = async (args: string): Promise<Data> => {
    const field = `${connection}(${args}) { nodes { id } pageInfo { endCursor startCursor } }`
    const data = await api().data(parent === '' ? `{ ${field} }` : `{ parent: ${parent} { ${field} } }`)
    return (parent === '' ? data : data.parent)[connection]
  }
  const first = await page('first: 1')
  const second = await page(`first: 1, after: "${first.pageInfo.endCursor}"`)
  const both = await page('first: 2')
  expect(both.nodes).toEqual([...first.nodes, ...second.nodes])
  expect((await page(`last: 1, before: "${second.pageInfo.startCursor}"`)).nodes).toEqual(first.nodes)
})
