import pg from 'pg'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { type Data, openApi, withProfile, withService } from '../../api.ts'

const api = openApi()
const names = Array.from({ length: 20 }, (_, at) => `service-${String.fromCharCode(97 + at)}`)

beforeAll(async () => {
  await withProfile(api())
  // Not in the order of their names, so that the two orders differ.
  for (const name of names.toReversed()) await withService(api(), name, { replicas: 7 })
}, 180_000)

async function statementsOf(ask: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await ask()
    return spy.mock.calls.length
  } finally {
    spy.mockRestore()
  }
}

const namesOf = (connection: Data): string[] => connection.nodes.map((node: Data) => node.name)

describe('paging', () => {
  const page =
    'query Page($first: Int, $last: Int, $after: String, $before: String, $orderBy: ServiceOrder) { services(first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy) { nodes { name } edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }'

  test('forward through everything, each once', async () => {
    const seen: string[] = []
    let after: string | null = null
    for (let pages = 1; ; pages++) {
      const { services } = await api().data(page, { first: 7, after })
      seen.push(...namesOf(services))
      expect(services.edges.map(({ node }: Data) => node.name)).toEqual(namesOf(services))
      expect(services.pageInfo.endCursor).toBe(services.edges.at(-1).cursor)
      expect(services.pageInfo.hasPreviousPage).toBe(after !== null)
      after = services.pageInfo.endCursor
      if (!services.pageInfo.hasNextPage) {
        expect(pages).toBe(3)
        break
      }
    }
    expect(seen).toEqual(names)
  })

  test('backward from the end', async () => {
    const { services } = await api().data(page, { last: 3 })
    expect(namesOf(services)).toEqual(names.slice(-3))
    expect(services.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const earlier = await api().data(page, { last: 17, before: services.pageInfo.startCursor })
    expect(namesOf(earlier.services)).toEqual(names.slice(0, 17))
    expect(earlier.services.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
  })

  test('by the instant of creation, newest first', async () => {
    const orderBy = { field: 'CREATED_AT', direction: 'DESC' }
    const { services } = await api().data(page, { first: 5, orderBy })
    expect(namesOf(services)).toEqual(names.slice(0, 5))
    const next = await api().data(page, { first: 5, orderBy, after: services.pageInfo.endCursor })
    expect(namesOf(next.services)).toEqual(names.slice(5, 10))
  })

  test('by the status, each once, from page to page', async () => {
    await withService(api(), 'service-none', { replicas: 0 })
    const orderBy = { field: 'STATUS', direction: 'ASC' }
    const { services } = await api().data(page, { first: 15, orderBy })
    const next = await api().data(page, { first: 15, orderBy, after: services.pageInfo.endCursor })
    const seen = [...namesOf(services), ...namesOf(next.services)]
    expect(seen.toSorted()).toEqual([...names, 'service-none'].toSorted())
    expect(seen.at(-1), 'STOPPED is behind PROGRESSING').toBe('service-none')
    await api().data('mutation { deleteService(input: { service: { name: "service-none" } }) { __typename } }')
  })

  test('20 by default, an empty page for 0', async () => {
    await withService(api(), 'service-zz')
    const { services } = await api().data(page)
    expect(services.nodes).toHaveLength(20)
    expect(services.pageInfo.hasNextPage).toBe(true)
    const none = await api().data(page, { first: 0 })
    expect(none.services).toMatchObject({
      nodes: [],
      pageInfo: { hasNextPage: true, startCursor: null, endCursor: null },
    })
    await api().data('mutation { deleteService(input: { service: { name: "service-zz" } }) { __typename } }')
  })

  test.each([
    [{ first: -1 }, 'first is -1: give 0 to 100.'],
    [{ first: 101 }, 'first is 101: give 0 to 100.'],
    [{ last: -1 }, 'last is -1: give 0 to 100.'],
    [{ last: 101 }, 'last is 101: give 0 to 100.'],
    [{ first: 1, last: 1 }, 'first is 1 and last is 1'],
    [{ after: 'nonsense' }, 'no cursor of this connection (Query.services)'],
    [{ before: '' }, 'no cursor of this connection (Query.services)'],
    [
      { after: Buffer.from('["Query.services:name:id:ASC","a\\u0000","b"]').toString('base64url') },
      'no cursor of this connection',
    ],
    [
      {
        after: Buffer.from('["Query.services:status:id:ASC","ODD","b"]').toString('base64url'),
        orderBy: { field: 'STATUS', direction: 'ASC' },
      },
      'no cursor of this connection',
    ],
    [
      {
        after: Buffer.from('["Query.services:createdAt:id:ASC","2026-02-31T00:00:00.000Z","b"]').toString('base64url'),
        orderBy: { field: 'CREATED_AT', direction: 'ASC' },
      },
      'no cursor of this connection',
    ],
  ])('%j is refused', async (variables, sentence) => {
    const { data, errors } = await api().ask(page, variables)
    expect(data).toBeNull()
    expect(errors).toEqual([{ code: 'BAD_USER_INPUT', message: expect.stringContaining(sentence) }])
  })

  test('a cursor of another connection, of another parent or of another order is refused', async () => {
    const { services } = await api().data(
      '{ services(first: 2) { nodes { replicas(first: 1) { pageInfo { endCursor } } } pageInfo { endCursor } } replicas(first: 1) { pageInfo { endCursor } } }',
    )
    const [mine, others] = services.nodes.map((node: Data) => node.replicas.pageInfo.endCursor)
    const replicas =
      'query Replicas($after: String) { service(name: "service-a") { replicas(first: 1, after: $after) { nodes { id } } } }'
    expect((await api().ask(replicas, { after: mine })).errors).toEqual([])
    expect((await api().ask(replicas, { after: others })).errors).toMatchObject([{ code: 'BAD_USER_INPUT' }])
    expect((await api().ask(replicas, { after: services.pageInfo.endCursor })).errors).toMatchObject([
      { code: 'BAD_USER_INPUT' },
    ])
    const orderBy = { field: 'NAME', direction: 'DESC' }
    expect((await api().ask(page, { after: services.pageInfo.endCursor, orderBy })).errors).toMatchObject([
      { code: 'BAD_USER_INPUT' },
    ])
  })
})

describe('many parents', () => {
  const nested = (first: number) =>
    `{ services(first: ${first}) { nodes { name replicas(first: 5) { nodes { index service { name } } pageInfo { hasNextPage } } } } }`

  test('each has its own page', async () => {
    const { services } = await api().data(nested(20))
    expect(namesOf(services)).toEqual(names)
    for (const { name, replicas } of services.nodes) {
      expect(replicas.nodes.map(({ index }: Data) => index).sort()).toHaveLength(5)
      expect(new Set(replicas.nodes.map(({ service }: Data) => service.name))).toEqual(new Set([name]))
      expect(replicas.pageInfo.hasNextPage).toBe(true)
    }
  })

  test('the pages of all are one statement', async () => {
    const plain = '{ services(first: 20) { nodes { name replicas(first: 5) { nodes { index state } } } } }'
    await api().data(plain)
    expect(await statementsOf(() => api().data(plain))).toBe(2)
  })

  test('statements do not grow with the number of parents', async () => {
    const all = (first: number) =>
      `{ services(first: ${first}) { nodes { project { name } queue { name } version { number } rollout { number to { number } } profileRevision { profile { name } } endpoint { revision }
        replicas(first: 5) { nodes { version { number } host { name } } } versions(first: 1) { nodes { number } } rollouts(first: 1) { nodes { state } } events(first: 2) { nodes { message service { name } } } } } }`
    await api().data(all(20))
    const few = await statementsOf(() => api().data(all(2)))
    const many = await statementsOf(() => api().data(all(20)))
    expect(many).toBe(few)
  })

  test('no more rows of a parent are read than are shown, and one to know of more', async () => {
    const spy = vi.spyOn(api().app.database.prisma, '$queryRaw')
    await api().data('{ services(first: 3) { nodes { replicas(first: 2) { nodes { id } } } } }')
    const rows = await Promise.all(spy.mock.results.map(({ value }) => value as Promise<readonly unknown[]>))
    spy.mockRestore()
    expect(rows.map(({ length }) => length)).toEqual([4, 9])
  })
})

describe('totalCount', () => {
  test('counts all pages of what the filter selects, also beside an empty page', async () => {
    const document =
      '{ all: services(first: 3) { nodes { name } totalCount } some: services(first: 0, filter: { names: ["service-a", "service-b"] }) { totalCount } none: hosts { totalCount } }'
    const { all, some, none } = await api().data(document)
    expect([all.nodes.length, all.totalCount, some.totalCount, none.totalCount]).toEqual([3, 20, 2, 0])
  })

  test('one statement counts for all parents, each with its own filter, and none is sent where nobody asks', async () => {
    const counted = (count: string) =>
      `{ services(first: 20) { nodes { replicas(first: 2, filter: { states: [PENDING, RUNNING] }) { nodes { id } ${count} } } } }`
    const { services } = await api().data(counted('totalCount'))
    expect(services.nodes.map(({ replicas }: Data) => replicas.totalCount)).toEqual(Array(20).fill(7))
    expect(await statementsOf(() => api().data(counted('totalCount')))).toBe(3)
    expect(await statementsOf(() => api().data(counted('')))).toBe(2)
  })
})

describe('filters', () => {
  const services = async (filter: Data) =>
    namesOf(
      (
        await api().data('query Services($filter: ServiceFilter) { services(filter: $filter) { nodes { name } } }', {
          filter,
        })
      ).services,
    )

  test('of services', async () => {
    expect(await services({ names: ['service-b', 'service-c', 'nobody'] })).toEqual(['service-b', 'service-c'])
    expect(await services({ nameStartsWith: 'service-a' })).toEqual(['service-a'])
    expect(await services({ nameStartsWith: '%' })).toEqual([])
    expect(await services({ projects: ['default'], queues: ['default'], owners: ['alice', 'bob'] })).toHaveLength(20)
    expect(await services({ projects: ['other'] })).toEqual([])
    expect(await services({ projects: [] })).toEqual([])
    expect(await services({ queues: ['other'] })).toEqual([])
    expect(await services({ owners: ['bob'] })).toEqual([])
    expect(await services({ statuses: ['PROGRESSING'] })).toHaveLength(20)
    expect(await services({ statuses: ['HEALTHY', 'STOPPED'] })).toEqual([])
  })

  test('of replicas, of all and of one service alike', async () => {
    const count = async (filter: Data) => {
      const source =
        'query Replicas($filter: ReplicaFilter) { replicas(first: 100, filter: $filter) { nodes { id } } service(name: "service-a") { replicas(filter: $filter) { nodes { id } } } }'
      const { replicas, service } = await api().data(source, { filter })
      return [replicas.nodes.length, service.replicas.nodes.length]
    }
    expect(await count({ services: [{ name: 'service-a' }, { name: 'service-b' }] })).toEqual([14, 7])
    expect(await count({ services: [{ project: 'other', name: 'service-a' }] })).toEqual([0, 0])
    expect(await count({ states: ['PENDING'] })).toEqual([100, 7])
    expect(await count({ states: ['RUNNING', 'STOPPING'] })).toEqual([0, 0])
    expect(await count({ ready: false, versionNumbers: [1, 2] })).toEqual([100, 7])
    expect(await count({ ready: true })).toEqual([0, 0])
    expect(await count({ versionNumbers: [2] })).toEqual([0, 0])
    expect(await count({ hosts: ['node1'] })).toEqual([0, 0])
    expect(await count({ endReasons: ['KILLED'] })).toEqual([0, 0])
  })

  test('of events and rollouts', async () => {
    const source =
      'query Events($filter: EventFilter) { events(first: 100, filter: $filter) { nodes { kind revision service { name } } } }'
    const events = async (filter: Data) => (await api().data(source, { filter })).events.nodes
    expect(await events({ services: ['service-a'], kinds: ['SERVICE_CREATED'] })).toMatchObject([
      { kind: 'SERVICE_CREATED', service: { name: 'service-a' } },
    ])
    expect(await events({ projects: ['other'] })).toEqual([])
    expect(await events({ actors: ['nobody'] })).toEqual([])
    expect((await events({ actors: ['nobody', 'alice'] })).length).toBeGreaterThan(0)
    const revisions = (await events({})).map(({ revision }: Data) => Number(revision))
    expect(revisions).toEqual(revisions.toSorted((a: number, b: number) => b - a))
    const { rolling, done } = await api().data(
      '{ rolling: rollouts(first: 100, filter: { states: [ROLLING] }) { nodes { number from { number } } } done: rollouts(filter: { states: [STALLED, SUPERSEDED] }) { nodes { number } } }',
    )
    expect(rolling.nodes).toHaveLength(20)
    expect(rolling.nodes[0]).toEqual({ number: 1, from: null })
    expect(done.nodes).toEqual([])
  })

  test('of rollouts, by their services and projects', async () => {
    const source = 'query Rollouts($filter: RolloutFilter) { rollouts(filter: $filter) { nodes { service { name } } } }'
    const names = async (filter: Data) =>
      (await api().data(source, { filter })).rollouts.nodes.map(({ service }: Data) => service.name)
    expect(await names({ services: [{ name: 'service-a' }, { name: 'nobody' }] })).toEqual(['service-a'])
    expect(await names({ services: [{ name: 'service-a' }], projects: ['other'] })).toEqual([])
    expect(await names({ projects: ['default'], states: [] })).toEqual([])
  })

  test.each([
    ['ServiceFilter', 'services', { names: Array(101).fill('a') }, 'filter.names has 101 values: give at most 100.'],
    [
      'ServiceFilter',
      'services',
      { nameStartsWith: 'a'.repeat(321) },
      'filter.nameStartsWith has 321 characters: give at most 320.',
    ],
    [
      'ServiceFilter',
      'services',
      { queues: ['x'.repeat(330)] },
      'filter.queues.0 has 330 characters: give at most 320.',
    ],
    [
      'HostFilter',
      'hosts',
      { schedulings: Array(101).fill('OPEN') },
      'filter.schedulings has 101 values: give at most 100.',
    ],
    [
      'HostFilter',
      'hosts',
      { names: ['a\0'] },
      'filter.names.0 is "a\\u0000": a text may not contain the character NUL, nor half of a character.',
    ],
    [
      'ReplicaFilter',
      'replicas',
      { versionNumbers: Array(101).fill(1) },
      'filter.versionNumbers has 101 values: give at most 100.',
    ],
    [
      'ReplicaFilter',
      'replicas',
      { services: [{ name: 'a'.repeat(321) }] },
      'filter.services.0.name has 321 characters: give at most 320.',
    ],
    ['EventFilter', 'events', { actors: Array(101).fill('a') }, 'filter.actors has 101 values: give at most 100.'],
    [
      'RolloutFilter',
      'rollouts',
      { states: Array(101).fill('ROLLING') },
      'filter.states has 101 values: give at most 100.',
    ],
  ])('%s of %s is bounded', async (type, field, filter, message) => {
    const { errors } = await api().ask(`query ($filter: ${type}) { ${field}(filter: $filter) { nodes { id } } }`, {
      filter,
    })
    expect(errors).toMatchObject([{ message, code: 'BAD_USER_INPUT' }])
  })

  test('a text with NUL is refused', async () => {
    const { errors } = await api().ask(
      'query Services($filter: ServiceFilter) { services(filter: $filter) { nodes { name } } }',
      {
        filter: { names: ['a\0'] },
      },
    )
    expect(errors).toEqual([
      {
        code: 'BAD_USER_INPUT',
        message: 'filter.names.0 is "a\\u0000": a text may not contain the character NUL, nor half of a character.',
      },
    ])
  })
})

describe('ids', () => {
  test('node finds every kind of node again', async () => {
    const { service, queues, profile } = await api().data(
      '{ service(name: "service-a") { id version { id } rollout { id } endpoint { id } project { id } replicas(first: 1) { nodes { id } } events(first: 1) { nodes { id } } } queues { nodes { id } } profile(name: "web") { id current { id } } }',
    )
    const ids = [
      service.id,
      service.version.id,
      service.rollout.id,
      service.endpoint.id,
      service.project.id,
      service.replicas.nodes[0].id,
      service.events.nodes[0].id,
      queues.nodes[0].id,
      profile.id,
      profile.current.id,
    ]
    const { nodes } = await api().data('query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id __typename } }', { ids })
    expect(nodes).toEqual(ids.map((id) => ({ id, __typename: id.split('_')[0] })))
    for (const id of ids)
      expect((await api().data('query Node($id: ID!) { node(id: $id) { id } }', { id })).node).toEqual({ id })
  })

  test('nodes reads all of one type with one statement', async () => {
    const { services } = await api().data('{ services { nodes { id name } } }')
    const ids = services.nodes.map(({ id }: Data) => id)
    const ask = () =>
      api().data('query Nodes($ids: [ID!]!) { nodes(ids: $ids) { ... on Service { id name } } }', { ids })
    expect(await ask()).toEqual({ nodes: services.nodes })
    expect(await statementsOf(ask)).toBe(1)
  })

  test('what is not there is null, what is no id is refused, and 100 are enough', async () => {
    const unknown = 'Service_01890a5d-ac96-774b-bcce-b302099a8057'
    const ask = (ids: string[]) => api().ask('query Nodes($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids })
    expect(await ask([unknown, unknown.replace('Service', 'Endpoint'), 'Event_999999'])).toEqual({
      data: { nodes: [null, null, null] },
      errors: [],
    })
    for (const id of [
      '',
      'nonsense',
      'Service_1\0',
      'Service_',
      'Event_01890a5d-ac96-774b-bcce-b302099a8057',
      'Blocker_01890a5d-ac96-774b-bcce-b302099a8057',
    ]) {
      expect((await ask([id])).errors, id).toMatchObject([{ code: 'BAD_USER_INPUT' }])
    }
    expect((await ask(Array(100).fill(unknown))).errors).toEqual([])
    expect((await ask(Array(101).fill(unknown))).errors).toEqual([
      { code: 'BAD_USER_INPUT', message: 'ids has 101 ids: at most 100 are allowed.' },
    ])
  })
})
