import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { Feed } from '../../src/feed/feed.ts'
import type { OpenFollower } from '../../src/feed/follower.ts'
import { endpointFrames } from '../../src/feed/frames/endpointFrames.ts'
import { eventFrames } from '../../src/feed/frames/eventFrames.ts'
import { type HostListView, hostFrames } from '../../src/feed/frames/hostFrames.ts'
import { replicaFrames, rolloutFrames, serviceFrames } from '../../src/feed/frames/serviceFrames.ts'
import { serviceListFrames } from '../../src/feed/frames/serviceListFrames.ts'
import { listFollower } from '../../src/feed/listFollower.ts'
import { serviceFollower } from '../../src/feed/serviceFollower.ts'
import { SharedSource } from '../../src/feed/sharedSource.ts'
import type { ServiceFactData } from '../../src/model/fact.ts'
import type { Revision, ServiceId } from '../../src/model/id.ts'
import type { Reporter } from '../../src/model/intent.ts'
import type { Database } from '../../src/store/database/database.ts'
import { readEndpoint } from '../../src/store/read/readEndpoint.ts'
import { TestStore } from '../support/drivers/store.ts'
import { eachDatabase } from '../support/fixtures/databases.ts'
import { HeldTail } from './heldTail.ts'

// Who resumes is caught up from the database while what follows comes from memory. The two stand at different positions as a rule: the database is
// ahead of this server's tail, and both move on. Whatever their positions: all that is in (after, now] is told once and in order.

/** What a frame tells, of whatever kind: its position, and the things in it by their names. */
interface Told {
  readonly kind: string
  readonly revision: Revision
  readonly things: readonly string[]
}

interface Fact {
  readonly revision: Revision
  readonly kind: string
  readonly serviceId: string | null
  readonly hostId: string | null
  readonly data: ServiceFactData | null
}

interface Kind {
  readonly open: (scene: Scene) => OpenFollower<unknown, never>
  readonly tell: (frame: never) => Promise<readonly string[]> | readonly string[]
  /** What of a fact such frames tell. */
  readonly of: (fact: Fact, scene: Scene, events: ReadonlySet<Revision>) => readonly string[]
}

interface Scene {
  readonly database: Database
  readonly store: TestStore
  readonly service: ServiceId
  readonly reporter: Reporter
  readonly hostName: string
  readonly feed: Feed
  readonly tail: HeldTail
}

const ownChange = (fact: Fact, { service }: Scene) => fact.kind === 'change' && fact.serviceId === service
const listed = (open: unknown) => open as OpenFollower<unknown, never>

/** Every kind of subscription that resumes. What is told of an interval as its net is compared as a set. */
const everyHost: HostListView = { judge: async (ids) => (ids ?? []).map((id) => ({ id, shown: true })) }

const kinds: Readonly<Record<string, Kind>> = {
  events: {
    open: ({ feed, database }) => listed(listFollower(feed, 'events', eventFrames(database, viewOfEvents(database)))),
    tell: async (frame: { events: () => Promise<readonly { revision: bigint }[]> }) =>
      (await frame.events()).map(({ revision }) => String(revision)),
    of: (fact, _scene, events) => (events.has(fact.revision) ? [String(fact.revision)] : []),
  },
  services: {
    open: ({ feed, database }) =>
      listed(
        listFollower(
          feed,
          'services',
          serviceListFrames(database, { statuses: null, present: null, matching: async (ids) => ids ?? [] }),
        ),
      ),
    tell: (frame: { services: readonly string[]; removed: readonly string[] }) => [...frame.services, ...frame.removed],
    of: (fact) => (fact.kind === 'change' ? [fact.serviceId ?? ''] : []),
  },
  hosts: {
    open: ({ feed, database }) => listed(listFollower(feed, 'hosts', hostFrames(database, everyHost))),
    tell: (frame: { hosts: readonly string[]; removed: readonly string[] }) => [...frame.hosts, ...frame.removed],
    of: (fact) => (fact.kind === 'host' ? [fact.hostId ?? ''] : fact.kind === 'change' ? (fact.data?.hosts ?? []) : []),
  },
  replicas: {
    open: ({ feed, database, service }) => listed(serviceFollower(feed, service, replicaFrames(database, service))),
    tell: (frame: { replicas: readonly string[] }) => frame.replicas,
    of: (fact, scene) => (ownChange(fact, scene) ? (fact.data?.replicas ?? []) : []),
  },
  service: {
    open: ({ feed, service }) => listed(serviceFollower(feed, service, serviceFrames(service))),
    tell: () => ['changed'],
    of: (fact, scene) => (ownChange(fact, scene) ? ['changed'] : []),
  },
  rollout: {
    open: ({ feed, service }) => listed(serviceFollower(feed, service, rolloutFrames(service))),
    tell: () => ['changed'],
    of: (fact, scene) => (ownChange(fact, scene) && (fact.data?.rollouts ?? []).length > 0 ? ['changed'] : []),
  },
  endpoint: {
    open: ({ feed, service }) =>
      listed(serviceFollower(feed, service, endpointFrames(service, { port: null, includeNotReady: true }))),
    tell: (frame: { addresses: readonly { id: string; ready: boolean }[] | null }) =>
      (frame.addresses ?? []).map(({ id, ready }) => `${id} ${ready}`),
    of: () => [],
  },
}

function viewOfEvents({ prisma }: Database) {
  const all = (after: Revision, upTo: Revision) =>
    prisma.event.findMany({ where: { revision: { gt: after, lte: upTo } }, orderBy: { revision: 'asc' } })
  return {
    newest: (upTo: Revision) => all(0n, upTo),
    all,
    revisions: async (after: Revision, upTo: Revision) => (await all(after, upTo)).map(({ revision }) => revision),
  }
}

/** One step of a history. `join` resumes so many facts behind the database's head. */
type Step =
  | { readonly do: 'write'; readonly which: number }
  | { readonly do: 'bring'; readonly facts: number }
  | { readonly do: 'join'; readonly kind: string; readonly behind: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), which: fc.nat({ max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('bring' as const), facts: fc.integer({ min: 1, max: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('join' as const),
      kind: fc.constantFrom(...Object.keys(kinds)),
      behind: fc.nat({ max: 25 }),
    }),
  },
)

class Subscriber {
  readonly #kind: Kind
  readonly #stream: AsyncGenerator<unknown, undefined, undefined>
  readonly told: Told[] = []
  readonly after: Revision
  readonly name: string
  reading: Promise<void> = Promise.resolve()

  constructor(scene: Scene, name: string, after: Revision) {
    this.name = name
    this.after = after
    this.#kind = kinds[name] as Kind
    this.#stream = new SharedSource(scene.feed, name, { after }, this.#kind.open(scene))[Symbol.asyncIterator]()
  }

  /** Reads until a frame is at `revision` or beyond it. */
  async readTo(revision: Revision): Promise<void> {
    while ((this.told.at(-1)?.revision ?? -1n) < revision) {
      const { value, done } = await this.#stream.next()
      if (done === true) throw new Error(`${this.name} ended early.`)
      const frame = value as { kind: string; revision: Revision }
      this.told.push({ kind: frame.kind, revision: frame.revision, things: await this.#kind.tell(value as never) })
    }
  }

  close(): Promise<unknown> {
    return this.#stream.return(undefined)
  }

  judge(scene: Scene, facts: readonly Fact[], events: ReadonlySet<Revision>): void {
    let from = this.after
    for (const { kind, revision, things } of this.told) {
      expect(kind, `${this.name}: all that was missed is kept, so no frame begins again`).toBe('DELTA')
      expect(revision, `${this.name}: frames go forward`).toBeGreaterThan(from)
      if (this.name !== 'endpoint') {
        const interval = facts.filter((fact) => fact.revision > from && fact.revision <= revision)
        const missed = interval.flatMap((fact) => this.#kind.of(fact, scene, events))
        expect([...things].sort(), `${this.name}: in (${from}, ${revision}], after ${this.after}`).toEqual(
          this.name === 'events' ? missed.sort() : [...new Set(missed)].sort(),
        )
      }
      from = revision
    }
  }
}

eachDatabase((database) => {
  let scene: Omit<Scene, 'feed' | 'tail'>
  let sequence = 0
  let flips = 0

  beforeAll(async () => {
    const store = await TestStore.on(database())
    const hostName = 'recalled'
    const reporter = await store.register({ name: 'recalled', host: hostName })
    const service = await store.create({ replicas: 1 })
    scene = { database: database(), store, service, reporter, hostName }
  })

  async function write(which: number): Promise<void> {
    const { store, service, reporter, hostName } = scene
    if (which < 3) await store.scale(service, 1 + which)
    else if (which === 3) await store.place([service])
    else if (which === 4) await store.reportReady(service, reporter, ++sequence)
    else
      await store.committer.write({
        kind: 'scheduleHost',
        name: hostName,
        scheduling: ++flips % 2 === 1 ? 'CORDONED' : 'OPEN',
        actor: 'test',
      })
  }

  const headOf = async () => (await database().prisma.feed.findFirstOrThrow()).head

  describe('what is recalled and what follows', () => {
    test('are one history, told once and in order, whoever is ahead', { timeout: 600_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40 }), async (steps) => {
          const tail = await HeldTail.on(database())
          const feed = new Feed({ database: database(), tail, bookmarkMillis: 3_600_000 })
          feed.start()
          const whole: Scene = { ...scene, feed, tail }
          const begins = tail.head
          const subscribers: Subscriber[] = []
          for (const one of steps) {
            if (one.do === 'write') await write(one.which)
            else if (one.do === 'bring') await tail.bring(one.facts)
            else {
              const head = await headOf()
              const after = head - BigInt(one.behind)
              const subscriber = new Subscriber(whole, one.kind, after < begins ? begins : after)
              subscribers.push(subscriber)
              // Frames are taken as they come, beside what else happens.
              subscriber.reading = subscriber.readTo(head + 1n)
              subscriber.reading.catch(() => undefined)
            }
          }
          if (flips % 2 === 1) await write(5)
          // Something for everybody, so that each has a last frame to wait for: a rollout, which is placed, on a host that changes.
          await scene.store.committer.submit(scene.service, {
            kind: 'restart',
            expectedRevision: null,
            actor: 'test',
            rolloutId: crypto.randomUUID() as never,
          })
          await write(3)
          const reported = await scene.store.reportReady(scene.service, scene.reporter, ++sequence)
          expect(reported.kind).toBe('done')
          await write(5)
          await write(5)
          const head = await headOf()
          while (tail.head < head) await tail.bring(3)
          const facts = (await database().prisma.fact.findMany({
            where: { revision: { gt: begins } },
          })) as unknown as Fact[]
          const rows = await database().prisma.event.findMany({ select: { revision: true } })
          const events = new Set(rows.map(({ revision }) => revision))
          for (const subscriber of subscribers) {
            const { of } = kinds[subscriber.name] as Kind
            const last = facts
              .filter((fact) => fact.revision > subscriber.after && of(fact, whole, events).length > 0)
              .at(-1)?.revision
            if (subscriber.name === 'endpoint') continue
            if (last !== undefined) {
              await subscriber.reading
              await subscriber.readTo(last)
            }
            subscriber.judge(whole, facts, events)
          }
          for (const subscriber of subscribers.filter(({ name }) => name === 'endpoint')) {
            const table = await readEndpoint(database(), scene.service)
            const now = (table?.addresses ?? []).map(({ id, ready }) => `${id} ${ready}`).sort()
            await subscriber.reading
            while (JSON.stringify([...(subscriber.told.at(-1)?.things ?? [])].sort()) !== JSON.stringify(now))
              await subscriber.readTo((subscriber.told.at(-1)?.revision ?? 0n) + 1n)
            subscriber.judge(whole, facts, events)
          }
          for (const subscriber of subscribers) await subscriber.close()
          feed.stop()
        }),
        { numRuns: 15 },
      )
    })
  })
})
