import { afterEach, beforeEach, expect, test } from 'vitest'
import { Subscriber } from '../feed/subscriber.ts'
import type { ApiClient } from '../support/drivers/apiClient.ts'
import { createService, scale } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { EventStream } from '../support/drivers/sse.ts'
import { until } from '../support/fixtures/until.ts'

const heapMiB = 300
const mib = 1_048_576

/** A reader's document; `alias` makes it another one, which is executed and held apart. */
const documentOf = (alias: string) =>
  `subscription { ${alias}: endpointChanged(service: { name: "large" }, includeNotReady: true) { kind revision
    endpoint { addresses(includeNotReady: true) { id replicaId index host address addresses hostPort port portName ready serving } } } }`

let server: ServerProcess
let client: ApiClient
let worker: HandWorker
let flips = 0
beforeEach(async () => {
  server = new ServerProcess({
    NODE_OPTIONS: `--max-old-space-size=${heapMiB}`,
    XCE_LEASE_SECONDS: '3600',
    XCE_SLOW_READERS_MIB: '8',
  })
  await server.start()
  client = server.client()
  worker = new HandWorker(client)
  await worker.register()
  await createService(client, 'large', 0, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })
})
afterEach(async () => {
  expect(await server.clean()).toEqual([])
})

/** Makes the service so large, all of it ready. */
async function grow(replicas: number): Promise<void> {
  await scale(client, 'large', replicas)
  const ids = await until(async () => {
    const placed = await placedIds()
    return placed.length === replicas ? placed : null
  }, `${replicas} replicas are placed`)
  for (let from = 0; from < ids.length; from += 500) {
    const part = ids.slice(from, from + 500)
    await worker.report(...part.map((replica) => ({ replica, state: 'RUNNING', ready: true }) as const))
  }
}

interface Page {
  readonly replicas: {
    readonly nodes: readonly { readonly id: string; readonly state: string }[]
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
  }
}

async function placedIds(): Promise<string[]> {
  const query =
    'query ($after: String) { replicas(first: 100, after: $after) { nodes { id state } pageInfo { hasNextPage endCursor } } }'
  const ids: string[] = []
  for (let after: string | null = null; ; ) {
    const { replicas }: Page = await client.ask<Page>(query, { after })
    ids.push(...replicas.nodes.flatMap(({ id, state }) => (state === 'PENDING' ? [] : [id])))
    if (!replicas.pageInfo.hasNextPage) return ids
    after = replicas.pageInfo.endCursor
  }
}

async function flip(times: number): Promise<void> {
  const { replicas } = await client.ask<Page>('{ replicas(first: 1) { nodes { id } } }')
  for (let time = 0; time < times; time++) {
    await worker.report({ replica: replicas.nodes[0]?.id ?? '', state: 'RUNNING', ready: flips++ % 2 === 1 })
  }
}

async function metric(name: string): Promise<number> {
  const answer = await fetch(new URL('/metrics', server.url), { headers: { authorization: `Bearer ${client.token}` } })
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(await answer.text())?.[1])
}

/** A reader that takes its SNAPSHOT, and then nothing. */
async function pausedReader(alias: string): Promise<EventStream> {
  const stream = await EventStream.open(client, documentOf(alias))
  expect(await stream.next()).toMatchObject({ data: { data: { [alias]: { kind: 'SNAPSHOT' } } } })
  return stream
}

test('two readers with different documents sleep, of 600 and then of 2,400 addresses: the server lives', async () => {
  await grow(600)
  const streams = [await pausedReader('one'), await pausedReader('other')]
  await flip(300)
  expect(await metric('xce_feed_collapsed_total')).toBeGreaterThanOrEqual(2)
  expect(await metric('xce_feed_waiting_bytes')).toBeLessThanOrEqual(8 * mib)
  await grow(2_400)
  await flip(150)
  expect(await metric('xce_feed_waiting_bytes')).toBeLessThanOrEqual(8 * mib)
  // They are there still, and what they hear in the end is the whole.
  const { service } = await client.ask<{ service: { revision: string } }>('{ service(name: "large") { revision } }')
  for (const stream of streams) {
    for (let revision = 0n; revision < BigInt(service.revision); ) {
      const event = await stream.next()
      if (event === null) throw new Error('The stream ended.')
      const { data } = event.data as { readonly data: Record<string, { readonly revision: string }> }
      const [frame] = Object.values(data)
      if (frame === undefined) throw new Error(`No frame: ${JSON.stringify(event)}`)
      revision = BigInt(frame.revision)
    }
    stream.close()
  }
  expect(server.child.exitCode).toBeNull()
}, 300_000)

test('readers that take nothing are closed when the budget is used up, and one that reads is not', async () => {
  await grow(2_400)
  const reader = await Subscriber.open(client)
  reader.subscribe('subscription { endpointChanged(service: { name: "large" }) { kind revision } }')
  const streams = await Promise.all(Array.from({ length: 24 }, () => pausedReader('same')))
  const isClosed = async () => {
    await flip(2)
    return (await metric('xce_feed_closed_total')) > 0
  }
  await until(isClosed, 'a reader is closed', 120)
  await until(async () => (await metric('xce_feed_waiting_bytes')) <= 8 * mib, 'what waits is within the budget', 60)
  expect(await metric('xce_feed_closed_total')).toBeLessThan(streams.length)
  expect(reader.closed).toBeNull()
  await reader.close()
  for (const stream of streams) stream.close()
}, 300_000)
