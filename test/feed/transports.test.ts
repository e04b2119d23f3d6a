import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createService, placedReplicas, remove, scale } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import { type Sleeper, sleepers } from './sleepers.ts'
import { type Frame, Subscriber } from './subscriber.ts'

let server: TestServer
let worker: HandWorker
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker(undefined, { bookmarkMillis: 300 }))
})
afterAll(() => server.stop())

const ofService = ['endpointChanged', 'serviceChanged', 'replicasChanged', 'rolloutChanged'] as const
const ofAll = ['servicesChanged', 'hostsChanged', 'eventAdded'] as const

function documentOf(field: string, service: string, after: string | null = null): string {
  const ofOne = ofService.some((own) => own === field)
  const named = ofOne ? [`service: { name: ${JSON.stringify(service)} }`] : []
  return `subscription ($after: Revision = ${JSON.stringify(after)}) { ${field}(${[...named, 'after: $after', 'bookmarks: true'].join(', ')}) { kind revision } }`
}

/** Frames until there is one of this kind; before it come only those that may. */
async function frameOf(subscriber: Pick<Sleeper, 'frame'>, kind: Frame['kind']): Promise<Frame> {
  for (;;) {
    const frame = await subscriber.frame()
    if (frame.kind === kind) return frame
    expect(['DELTA', 'BOOKMARK']).toContain(frame.kind)
  }
}

describe.each(sleepers)('over %s', (transport, _kib, open) => {
  test('every subscription tells SNAPSHOT, DELTA, BOOKMARK and GONE, and goes on from `after`', async () => {
    const name = `by-${sleepers.findIndex(([other]) => other === transport)}`
    await createService(server.client, name, 1)
    const [replica] = await placedReplicas(server.client, name, 1)
    const following = new Map<string, Sleeper>()
    const had = new Map<string, string>()
    for (const field of [...ofService, ...ofAll]) {
      const subscriber = await open(server, documentOf(field, name))
      following.set(field, subscriber)
      had.set(field, (await frameOf(subscriber, 'SNAPSHOT')).revision)
    }
    await worker.report({ replica: replica?.id ?? '', state: 'RUNNING', ready: true })
    await scale(server.client, name, 2)
    const placed = await placedReplicas(server.client, name, 2)
    for (const subscriber of following.values()) await frameOf(subscriber, 'DELTA')
    for (const subscriber of following.values()) await frameOf(subscriber, 'BOOKMARK')
    for (const [field, subscriber] of [...following]) {
      await subscriber.close()
      const resumed = await open(server, documentOf(field, name, had.get(field)))
      expect((await resumed.frame()).kind, field).toBe('DELTA')
      following.set(field, resumed)
    }
    await remove(server.client, name)
    await worker.report(...placed.map(({ id }) => ({ replica: id, state: 'ENDED', endReason: 'STOPPED' }) as const))
    for (const field of ofService) await frameOf(following.get(field) as Sleeper, 'GONE')
    for (const subscriber of following.values()) await subscriber.close()
    await until(
      () => server.app.feed.topics === 0 && server.app.feed.counts.subscribers === 0,
      'nothing is left in the feed',
    )
  })
})

describe('`after`', () => {
  test.each([...ofService, ...ofAll])(
    'of %s: too old and from the future are a SNAPSHOT, what is no revision is refused',
    async (field) => {
      const name = `after-${field.toLowerCase()}`
      await createService(server.client, name, 0)
      const { prisma } = server.app.database
      const { head } = await prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
      await prisma.feed.update({ where: { id: 1 }, data: { floor: head - 1n } })
      onTestFinished(() => prisma.feed.update({ where: { id: 1 }, data: { floor: 0n } }).then(() => undefined))
      const subscriber = await Subscriber.open(server.client)
      for (const after of ['0', String(head - 2n), String(head + 1_000n)]) {
        subscriber.subscribe(documentOf(field, name, after), {}, after)
        expect((await subscriber.frame(after)).kind, after).toBe('SNAPSHOT')
      }
      for (const after of ['-1', 'yesterday']) {
        subscriber.subscribe(documentOf(field, name), { after }, after)
        expect(await subscriber.errorCode(after), after).toBe('BAD_USER_INPUT')
      }
      await subscriber.close()
    },
  )
})
