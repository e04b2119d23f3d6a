import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Tail } from '../../src/feed/tail.ts'
import type { CommittedFact } from '../../src/model/fact.ts'
import type { Database } from '../../src/store/database/database.ts'
import { readFacts } from '../../src/store/read/readFacts.ts'
import { TestStore } from '../support/drivers/store.ts'
import { eachDatabase, silent } from '../support/fixtures/databases.ts'
import { readHead } from '../support/fixtures/readHead.ts'
import { until } from '../support/fixtures/until.ts'

eachDatabase((database) => {
  let store: TestStore
  let tail: Tail
  let heard: CommittedFact[]
  let lost: number
  const start = async (on: Database = database()) => {
    tail = new Tail({ database: on, committer: store.committer, log: silent })
    await tail.start()
    tail.subscribe(
      (facts) => void heard.push(...facts),
      () => void lost++,
    )
  }
  beforeEach(async () => {
    store = await TestStore.on(database())
    heard = []
    lost = 0
  })
  afterEach(async () => {
    await tail.stop()
    expect(tail.live).toBe(false)
    await store.committer.stop()
  })

  const heardAll = async (from: bigint) => {
    const head = await readHead(database())
    await until(() => tail.head >= head, `the tail comes to ${head}`)
    expect(heard.map(({ revision }) => revision)).toEqual(
      Array.from({ length: Number(head - from) }, (_, index) => from + 1n + BigInt(index)),
    )
  }

  test('brings every fact once and in order, of several writers', async () => {
    await start()
    const from = tail.head
    const other = await TestStore.on(database())
    const ids = await Promise.all([store.create(), other.create()])
    await Promise.all(
      ids.flatMap((id) =>
        Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? store : other).scale(id, 1 + (index % 5))),
      ),
    )
    await other.committer.stop()
    await heardAll(from)
    expect(tail.live).toBe(true)
  })

  test('woken before it knows where to begin, it begins where the log is', async () => {
    await store.create()
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
    const head = await readHead(database())
    // Another server commits in the moment in which this one starts.
    const noisy: Database = {
      ...database(),
      listen: async (channel, onMessage, onReconnect) => {
        const leave = await database().listen(channel, onMessage, onReconnect)
        onMessage(String(head))
        return leave
      },
    }
    tail = new Tail({ database: noisy, committer: store.committer, log })
    tail.subscribe((facts) => void heard.push(...facts))
    await tail.start()
    await store.create()
    await heardAll(head)
    expect(lines).toEqual([])
  })

  test('brings what was committed elsewhere, and drops the states that it made old', async () => {
    const id = await store.create()
    const before = store.committer.cache.get(id)
    await start()
    const from = tail.head
    const other = await TestStore.on(database())
    await other.scale(id, 9)
    await other.committer.stop()
    await heardAll(from)
    expect(before?.columns.desiredReplicas).toBe(3)
    expect(store.committer.cache.get(id)).toBeUndefined()
  })

  test('needs no notification: the next wake-up of any kind brings what was missed', async () => {
    // A LISTEN that hears nothing, as after a break.
    await start({ ...database(), listen: async () => async () => undefined })
    const from = tail.head
    const other = await TestStore.on(database())
    const id = await other.create()
    await other.scale(id, 5)
    await other.committer.stop()
    await store.create()
    await heardAll(from)
  })

  test('says so when facts were trimmed while it did not follow, and goes on behind them', async () => {
    let wake: (payload: string) => void = () => undefined
    await start({
      ...database(),
      listen: async (_channel, onMessage) => {
        wake = onMessage
        return async () => undefined
      },
    })
    const other = await TestStore.on(database())
    const id = await other.create()
    const { head } = await readFacts(database(), null, 0)
    await database().prisma.$transaction([
      database().prisma.feed.update({ where: { id: 1 }, data: { floor: head } }),
      database().prisma.fact.deleteMany({ where: { revision: { lte: head } } }),
    ])
    wake('')
    await until(() => tail.head === head, 'the tail goes on at the floor')
    expect([heard.length, lost]).toEqual([0, 1])
    await other.scale(id, 4)
    await other.committer.stop()
    wake('')
    await heardAll(head)
  })

  describe('a listener that fails', () => {
    test('does not stop the others', async () => {
      await start()
      const from = tail.head
      tail.subscribe(() => {
        throw new Error('of no use')
      })
      const second: CommittedFact[] = []
      tail.subscribe((facts) => void second.push(...facts))
      await store.create()
      await heardAll(from)
      expect(second).toEqual(heard)
    })
  })
})
