import { compareAddresses, type EndpointAddress } from '../../src/model/endpoint.ts'
import type { CommittedFact, ServiceFactData } from '../../src/model/fact.ts'
import type { ServiceId } from '../../src/model/id.ts'
import { readEndpoint } from '../../src/store/read/readEndpoint.ts'
import { createService } from '../support/drivers/apiService.ts'
import { HandWorker, type Seen } from '../support/drivers/handWorker.ts'
import type { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'
import { RandomSubscriber } from './randomSubscriber.ts'
import { Rng } from './rng.ts'
import { shownOf } from './shownOf.ts'

export interface ExactnessRun {
  /** All on one database. */
  readonly servers: readonly TestServer[]
  readonly writers: number
  readonly operationsEach: number
  readonly services: number
  readonly subscribers: number
  /** Of all subscribers together; each comes back with its `after`. */
  readonly disconnects: number
  readonly seed: number
  /** Called when half of the operations are done. */
  readonly atHalf?: () => Promise<void>
}

export interface ExactnessResult {
  readonly facts: number
  readonly frames: number
  readonly disconnects: number
  readonly kinds: Readonly<Record<string, number>>
  /** What was wrong, as sentences. */
  readonly faults: readonly string[]
  /** Of the scales before and after the half, in milliseconds: a commit each. */
  readonly millis: { readonly before: readonly number[]; readonly after: readonly number[] }
}

/** Writers write through the API while subscribers come and go; then every frame that anybody saw is compared with the fact log. */
export async function runExactness(run: ExactnessRun): Promise<ExactnessResult> {
  const [server] = run.servers
  if (server === undefined) throw new Error('a server is needed')
  const rng = new Rng(run.seed)
  const faults: string[] = []
  const tails = run.servers.map(({ app }) => {
    const heard: CommittedFact[] = []
    const from = app.tail.head
    const leave = app.tail.subscribe((facts) => void heard.push(...facts))
    return { app, from, heard, leave }
  })
  const workers = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const by = run.servers[index % run.servers.length] ?? server
      const worker = new HandWorker(by.client, `exact-${index}`)
      await worker.register()
      return new Reports(by, worker)
    }),
  )
  const names = Array.from({ length: run.services }, (_, index) => `exact-${index}`)
  for (const name of names)
    await createService(server.client, name, 3, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })

  let done = 0
  const half = Math.floor((run.writers * run.operationsEach) / 2)
  const millis = { before: [] as number[], after: [] as number[] }
  const subscribers = Array.from({ length: run.subscribers }, (_, index) => {
    const clients = run.servers.map(({ client }) => client)
    const view = { port: null, includeNotReady: index % 2 === 0 }
    return new RandomSubscriber(
      clients,
      names[index % names.length] ?? '',
      view,
      rng.fork(),
      Math.ceil(run.disconnects / run.subscribers),
    )
  })
  const following = subscribers.map((subscriber) => subscriber.run())
  const writing = Array.from({ length: run.writers }, async (_, index) => {
    const own = rng.fork()
    const { client } = run.servers[index % run.servers.length] ?? server
    for (let operation = 0; operation < run.operationsEach; operation++) {
      const began = performance.now()
      if (own.below(10) < 3) {
        const input = { service: { name: own.of(names) }, replicas: 2 + own.below(9) }
        await client.ask('mutation ($input: ScaleServiceInput!) { scaleService(input: $input) { __typename } }', {
          input,
        })
        ;(done < half ? millis.before : millis.after).push(performance.now() - began)
      } else {
        await own.of(workers).tick(own)
      }
      if (++done === half) await run.atHalf?.()
    }
  })
  await Promise.all(writing)
  for (const subscriber of subscribers)
    await until(() => subscriber.hasDisconnected, 'the subscriber has come back as often as it should', 120)
  const head = await settledHead(server)
  for (const subscriber of subscribers)
    await until(() => subscriber.revision >= head, `a subscriber comes to ${head}`, 60)
  for (const subscriber of subscribers) await subscriber.stop()
  await Promise.all(following)

  for (const { app, from, heard, leave } of tails) {
    await until(() => app.tail.head >= head, 'the tail is at the head')
    leave()
    heard.forEach(({ revision }, index) => {
      if (revision !== from + 1n + BigInt(index))
        faults.push(`a tail heard ${revision} as fact ${index + 1} after ${from}`)
    })
  }
  const histories = await historiesOf(server, names)
  const kinds: Record<string, number> = {}
  for (const { record } of subscribers) {
    const history = histories.get(record.service)
    if (history === undefined) throw new Error(`no history of ${record.service}`)
    for (const { kind } of record.frames) kinds[kind] = (kinds[kind] ?? 0) + 1
    record.check((revision) => history.tableAt(revision), faults)
    const shown = JSON.stringify(shownOf(history.tableAt(record.revision ?? 0n), record.view))
    if (shown !== record.tableText) faults.push(`${record.service} ends as ${record.tableText}, and it was ${shown}`)
  }
  for (const [name, { inDatabase, tableAt }] of histories) {
    const view = { port: null, includeNotReady: true }
    const [rows, facts] = [inDatabase.addresses, tableAt(inDatabase.revision)].map((table) =>
      JSON.stringify(shownOf(table, view)),
    )
    if (rows !== facts) faults.push(`${name} at ${inDatabase.revision}: the database has ${rows}, its facts ${facts}`)
  }
  const frames = Object.values(kinds).reduce((sum, count) => sum + count, 0)
  const disconnects = subscribers.reduce((sum, subscriber) => sum + subscriber.disconnects, 0)
  return { facts: Number(head), frames, disconnects, kinds, faults, millis }
}

/** A worker that says whatever comes to its mind of the replicas on its host, one report at a time. */
class Reports {
  readonly #server: TestServer
  readonly #worker: HandWorker
  #turn: Promise<unknown> = Promise.resolve()

  constructor(server: TestServer, worker: HandWorker) {
    this.#server = server
    this.#worker = worker
  }

  tick(rng: Rng): Promise<unknown> {
    this.#turn = this.#turn.then(() => this.#report(rng))
    return this.#turn
  }

  async #report(rng: Rng): Promise<void> {
    const alive = await this.#server.app.database.prisma.replica.findMany({
      where: { host: { name: this.#worker.name }, state: { in: ['STARTING', 'RUNNING', 'STOPPING'] } },
      select: { id: true, state: true, start: true },
      orderBy: { id: 'asc' },
      take: 20,
    })
    const seen = alive
      .filter(() => rng.below(3) === 0)
      .map(({ id, state, start }): Seen => {
        const replica = `Replica_${id}`
        if (state === 'STOPPING') return { replica, start, state: 'ENDED', endReason: 'STOPPED' }
        const luck = rng.below(10)
        if (luck === 0) return { replica, start, state: 'ENDED', endReason: 'EXITED' }
        if (luck === 1) return { replica, start: start + 1, state: 'RUNNING', ready: true }
        return { replica, start, state: 'RUNNING', ready: luck > 4 }
      })
    if (seen.length > 0) await this.#worker.report(...seen)
  }
}

/** The head, once nothing commits any more by itself (grants that follow the last operation). */
async function settledHead({ app }: TestServer): Promise<bigint> {
  for (let known = -1n; ; ) {
    const { head } = await app.database.prisma.feed.findUniqueOrThrow({ where: { id: 1 } })
    if (head === known) return head
    known = head
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

interface History {
  /** At an instant before the facts were read: what waits for its time is placed while the test looks. */
  readonly inDatabase: { readonly revision: bigint; readonly addresses: readonly EndpointAddress[] }
  tableAt(revision: bigint): readonly EndpointAddress[]
}

/** Each service's table at every revision, by its facts. */
async function historiesOf({ app }: TestServer, names: readonly string[]): Promise<ReadonlyMap<string, History>> {
  const { prisma } = app.database
  const histories = new Map<string, History>()
  for (const name of names) {
    const { id } = await prisma.service.findFirstOrThrow({ where: { heldName: name } })
    const inDatabase = await readEndpoint(app.database, id as ServiceId)
    if (inDatabase === null) throw new Error(`no endpoint of ${name}`)
    const facts = await prisma.fact.findMany({ where: { serviceId: id, kind: 'change' }, orderBy: { revision: 'asc' } })
    const table = new Map<string, EndpointAddress>()
    const tables: { revision: bigint; addresses: EndpointAddress[] }[] = []
    for (const { revision, data } of facts) {
      const { removed, upserted } = data as unknown as ServiceFactData
      for (const gone of removed) table.delete(gone)
      for (const address of upserted) table.set(address.id, address)
      tables.push({ revision, addresses: [...table.values()].sort(compareAddresses) })
    }
    histories.set(name, {
      inDatabase,
      tableAt: (revision) => tables.findLast((entry) => entry.revision <= revision)?.addresses ?? [],
    })
  }
  return histories
}
