import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FlippingService, heardUpTo, sleepers } from '../feed/sleepers.ts'
import { Subscriber } from '../feed/subscriber.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

const flips = 5_000
/** The embedded database, in this process as well, uses less of what it has taken at one time than at another. */
const mostMiB = 40

let server: TestServer
let worker: HandWorker
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
})
afterAll(() => server.stop())

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function usedMiB(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1_048_576
}

test.each(sleepers)(`${flips} readiness flips while a consumer sleeps, over %s`, async (transport, frameKiB, open) => {
  const service = await FlippingService.on(
    server,
    worker,
    `sleepy-${sleepers.findIndex(([name]) => name === transport)}`,
  )
  const { counts } = server.app.feed
  const sleeper = await open(server, service.document(frameKiB))
  const other = await Subscriber.open(server.client)
  other.subscribe(`subscription { endpointChanged(service: { name: "${service.name}" }) { kind revision } }`)
  expect([(await sleeper.frame()).kind, (await other.frame()).kind]).toEqual(['SNAPSHOT', 'SNAPSHOT'])
  sleeper.sleep()
  const collapsed = counts.collapsed
  const subscribers = counts.subscribers
  let done = 0
  for (; counts.collapsed === collapsed && done < flips; done++) await service.flip()
  const before = usedMiB()
  const collapsedAfter = done
  for (; done < flips; done++) await service.flip()
  const after = usedMiB()
  console.log(
    `Over ${transport}: collapsed after ${collapsedAfter} flips, ${before.toFixed(0)} MiB then and ${after.toFixed(0)} after ${done}.`,
  )
  expect(counts.collapsed).toBe(collapsed + 1)
  expect(after - before).toBeLessThan(mostMiB)

  const { head } = await server.app.database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
  for (let revision = 0n; revision < head; ) {
    const frame = await other.frame()
    expect(frame.kind).toBe('DELTA')
    revision = BigInt(frame.revision)
  }
  // A socket that answered no ping for so long is taken for dead.
  if (counts.subscribers === subscribers) {
    sleeper.wake()
    const kinds = (await heardUpTo(sleeper, head)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'SNAPSHOT')).toHaveLength(1)
    expect(kinds.at(-1)).toBe('SNAPSHOT')
  }
  await sleeper.close()
  await other.close()
  await until(() => counts.subscribers === 0 && server.app.feed.topics === 0, 'nothing is left in the feed')
})
