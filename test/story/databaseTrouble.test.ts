import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Subscriber } from '../feed/subscriber.ts'
import { Accidents } from '../support/accidents.ts'
import { createService, placedReplicas, scale } from '../support/apiService.ts'
import { FactAudit } from '../support/audit/factAudit.ts'
import { freshPostgreSQL, type TestDatabase } from '../support/databases.ts'
import { EndpointWatch } from '../support/endpointWatch.ts'
import { HandWorker } from '../support/handWorker.ts'
import { TestServer } from '../support/testServer.ts'
import { until } from '../support/until.ts'

// PostgreSQL in trouble while a server uses it: what callers, subscribers and probes are told, and that all goes on without a restart.

let database: TestDatabase
let accidents: Accidents
let server: TestServer
let worker: HandWorker
const subscribers: Subscriber[] = []

beforeEach(async () => {
  database = await freshPostgreSQL()
  const { url = '' } = database.options
  accidents = new Accidents(url)
  server = await TestServer.start(undefined, mkdtempSync(path.join(tmpdir(), 'xce-test-')), { databaseUrl: url, bookmarkMillis: 300 })
  worker = new HandWorker(server.client)
  await worker.register()
})
afterEach(async () => {
  for (const subscriber of subscribers.splice(0)) await subscriber.close()
  await server.stop()
  await database.drop()
})

const ready = async () => {
  const response = await fetch(server.at('/readyz'))
  return [response.status, (await response.text()).trim()]
}

/** Of what needs the database to be shown. */
const lists: Readonly<Record<string, string>> = {
  service: '{ serviceChanged(name: "web") { kind revision service { desiredReplicas queue { name } } } }',
  services: '{ servicesChanged { kind revision services { name desiredReplicas queue { name } } } }',
  replicas: '{ replicaChanged(service: "web") { kind revision replicas { index state host { name } } } }',
  hosts: '{ hostChanged { kind revision hosts { name } } }',
  events: '{ eventAdded { kind revision events { message } } }',
}

/** Follows all of them on one socket. */
async function follow(): Promise<Subscriber> {
  const subscriber = await Subscriber.open(server.client)
  subscribers.push(subscriber)
  for (const [id, document] of Object.entries(lists)) subscriber.subscribe(`subscription ${document}`, {}, id)
  await until(() => Object.keys(lists).every((id) => framesOf(subscriber, id).length > 0), 'each has its SNAPSHOT')
  return subscriber
}

const framesOf = ({ messages }: Subscriber, id: string) =>
  messages.flatMap((message) => (message.id === id && message.type === 'next' ? Object.values(message.payload?.data ?? {}) : []))
const lastOf = (subscriber: Subscriber, id: string) => framesOf(subscriber, id).at(-1)

/** Nothing ended, nothing was partial, every frame follows the one before; begun anew only where facts were lost. */
function expectWhole(subscriber: Subscriber): void {
  expect(subscriber.closed).toBeNull()
  const others = subscriber.messages.filter(
    ({ type, payload }) => (type !== 'next' && type !== 'connection_ack' && type !== 'ping') || payload?.errors,
  )
  expect(others).toEqual([])
  for (const id of Object.keys(lists)) {
    const frames = framesOf(subscriber, id)
    expect(frames.filter(({ kind }) => kind === 'SNAPSHOT')).toHaveLength(1)
    const revisions = frames.map(({ revision }) => BigInt(revision))
    expect(revisions).toEqual(revisions.toSorted((a, b) => (a < b ? -1 : 1)))
  }
}

test('a frame that the database does not let be made is made when it does, and its subscribers stay', async () => {
  await createService(server.client, 'web', 1)
  await placedReplicas(server.client, 'web', 1)
  const subscriber = await follow()
  // Of the queue there is nothing in a commit, and all in these frames.
  const release = await accidents.lock('Queue')
  try {
    await scale(server.client, 'web', 3)
    for (let times = 0; times < 4; times++) expect(await accidents.killWhoWaits()).toBeGreaterThan(0)
    expect(framesOf(subscriber, 'service').some(({ kind }) => kind === 'DELTA')).toBe(false)
  } finally {
    await release()
  }
  const shown = { desiredReplicas: 3, queue: { name: 'default' } }
  await until(
    () => framesOf(subscriber, 'service').some(({ service }) => JSON.stringify(service) === JSON.stringify(shown)),
    'the change comes',
  )
  await until(() => framesOf(subscriber, 'services').some(({ kind }) => kind === 'DELTA'), 'the list has it too')
  expectWhole(subscriber)
})

test('connections that are killed again and again, under load: every change is done once or refused, and subscribers miss nothing', async () => {
  const names = ['web', 'db', 'app']
  for (const name of names) await createService(server.client, name, 1)
  const watches = names.map((name) => new EndpointWatch(server.client, name))
  const subscriber = await follow()
  let isOver = false
  /** Scales one service to and fro; what is not known to be done is sent again under its key. */
  const write = async (name: string) => {
    const answers = { done: 0, replicas: 1, refused: [] as string[] }
    const document = 'mutation ($input: ScaleServiceInput!) { scaleService(input: $input) { __typename ... on Error { code } } }'
    while (!isOver) {
      const replicas = 1 + ((answers.replicas + 1) % 5)
      const input = { service: { name }, replicas, idempotencyKey: `${name} ${answers.done}` }
      for (let isDone = false; !isDone; ) {
        const { data, errors } = await server.client.send<{ scaleService: unknown } | null>(document, { input })
        for (const { message, extensions } of errors) answers.refused.push(`${extensions?.code}: ${message}`)
        isDone = errors.length === 0
        if (isDone) expect(data).toEqual({ scaleService: { __typename: 'ScaleServicePayload' } })
      }
      answers.done++
      answers.replicas = replicas
    }
    return answers
  }
  const report = async () => {
    while (!isOver) {
      for (const name of names) {
        const { data } = await server.client.send<{
          service: { replicas: { nodes: { id: string; state: string; start: number }[] } } | null
        }>(`{ service(name: "${name}") { replicas(filter: { states: [STARTING, STOPPING] }) { nodes { id state start } } } }`)
        const seen = (data?.service?.replicas.nodes ?? []).map(({ id, state, start }) =>
          state === 'STOPPING'
            ? ({ replica: id, start, state: 'ENDED', endReason: 'STOPPED' } as const)
            : ({ replica: id, start, state: 'RUNNING', ready: true } as const),
        )
        if (seen.length > 0) await worker.report(...seen).catch(() => undefined)
      }
    }
  }
  const reporting = report()
  const writing = Promise.all(names.map(write))
  const before = server.app.tail.head
  for (let kill = 1; kill <= 12; kill++) {
    const from = server.app.tail.head
    await until(() => server.app.tail.head > from + 3n, 'changes are committed')
    expect(await accidents.killConnections()).toBeGreaterThan(0)
  }
  isOver = true
  const answers = await writing
  await reporting
  expect(server.app.tail.head - before).toBeGreaterThan(30n)
  const { prisma } = server.app.database
  for (const [index, { done, replicas, refused }] of answers.entries()) {
    expect(done).toBeGreaterThan(3)
    expect(refused.filter((sentence) => !sentence.startsWith('DATABASE_UNREACHABLE: The database does not answer'))).toEqual([])
    const { id, desiredReplicas } = await prisma.service.findFirstOrThrow({ where: { heldName: names[index] ?? '' } })
    expect(desiredReplicas).toBe(replicas)
    // Each once, in spite of all.
    expect(await prisma.event.count({ where: { serviceId: id, kind: 'SERVICE_SCALED' } })).toBe(done)
  }
  const head = String(server.app.tail.head)
  await until(
    () => ['service', 'services', 'events'].every((id) => lastOf(subscriber, id)?.revision === head),
    'subscribers come to the head',
  )
  expectWhole(subscriber)
  for (const watch of watches) {
    watch.close()
    expect(watch.faults).toEqual([])
  }
  expect(await new FactAudit(server.app.database).look()).toEqual([])
})

describe('a database that became read-only', () => {
  test('refuses changes with a sentence and changes nothing, shows what there is, and takes changes again when it may', async () => {
    await createService(server.client, 'web', 1)
    const [replica] = await placedReplicas(server.client, 'web', 1)
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    const subscriber = await follow()
    const watch = new EndpointWatch(server.client, 'web')
    await watch.until('the address', (table) => table.length === 1)
    await accidents.setReadOnly(true)
    await until(async () => (await ready())[0] === 503, 'it is not ready')
    expect(await ready()).toEqual([503, 'The database is read-only: reads work, changes are refused.'])
    expect((await fetch(server.at('/healthz'))).status).toBe(200)
    const { head } = server.app.tail

    const changes = {
      scaleService: { service: { name: 'web' }, replicas: 2 },
      deleteService: { service: { name: 'web' } },
      killReplica: { replica: replica?.id },
      createService: { name: 'other', profile: 'web', replicas: 1 },
      applyProfile: { name: 'other', command: ['true'] },
      applyProject: { name: 'other' },
      cordonHost: { host: 'hand' },
    }
    for (const [mutation, input] of Object.entries(changes)) {
      const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
      const keyed = { ...input, idempotencyKey: mutation }
      const { data, errors } = await server.client.send(`mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename } }`, {
        input: keyed,
      })
      expect([mutation, data, errors.map(({ message, extensions }) => [message, extensions])]).toEqual([
        mutation,
        null,
        [
          [
            'The database is read-only now: nothing was changed, reads and running replicas go on; try again when an operator has mended it.',
            { code: 'DATABASE_READ_ONLY' },
          ],
        ],
      ])
    }
    const query = '{ service(name: "web") { desiredReplicas readyReplicas } services { nodes { name } } }'
    expect(await server.client.ask(query)).toEqual({
      service: { desiredReplicas: 1, readyReplicas: 1 },
      services: { nodes: [{ name: 'web' }] },
    })
    const seen = framesOf(subscriber, 'service').length
    await until(() => framesOf(subscriber, 'service').length > seen, 'a BOOKMARK comes')
    expect(server.app.tail.head).toBe(head)

    await accidents.setReadOnly(false)
    await until(async () => (await ready())[0] === 200, 'it is ready')
    await scale(server.client, 'web', 2)
    const [, second] = await placedReplicas(server.client, 'web', 2)
    await worker.report({ replica: second?.id ?? '', state: 'RUNNING', ready: true })
    await watch.until('two addresses', (table) => table.length === 2)
    watch.close()
    expect(watch.faults).toEqual([])
    await until(() => lastOf(subscriber, 'service')?.revision === String(server.app.tail.head), 'the subscriber has it')
    expectWhole(subscriber)
  })
})
