import { afterEach, expect, test, vi } from 'vitest'
import { aliveReplicas, createService } from '../support/drivers/apiService.ts'
import { type HostScene, hostScenes, pidOf, portOf } from '../support/drivers/hostScene.ts'
import { program } from '../support/fixtures/processes.ts'
import { ShiftedClock } from '../support/fixtures/shiftedClock.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

let clocks: ShiftedClock[] = []
afterEach(() => {
  for (const clock of clocks) clock.remove()
  clocks = []
})
const start = hostScenes()

function newClock(hours = 0): ShiftedClock {
  const clock = new ShiftedClock(hours)
  clocks.push(clock)
  return clock
}

test.each([1, -1])(
  'a worker whose clock is off by %i h: its replicas serve, outlive it, and are found again',
  async (hours) => {
    const scene = await start(3, 60)
    const worker = await scene.worker('a', { env: newClock(hours).env() })
    const web = await scene.service('web', 2)
    const before = web.table
    const pids = await Promise.all(before.map(pidOf))
    const query = '{ host(name: "a") { workers { lastSeenAt } } }'
    const { host } = await scene.client.ask<{ host: { workers: { lastSeenAt: string }[] } }>(query)
    // On the database's clock, like all else.
    expect(Math.abs(Date.parse(host.workers[0]?.lastSeenAt ?? '') - Date.now())).toBeLessThan(60_000)
    await worker.end('SIGKILL')
    await web.until('the addresses have left with the lease', (table) => table.length === 0)
    worker.start()
    expect(await web.until('they are back', (table) => table.length === 2)).toEqual(before)
    expect(await Promise.all(before.map(pidOf))).toEqual(pids)
  },
)

// The embedded database reads the server's clock, so it steps with it; PostgreSQL has one of its own.
test.each([
  ['embedded', 1],
  ['embedded', -1],
  ['PostgreSQL', 1],
  ['PostgreSQL', -1],
] as const)(
  '%s: the clock of the server steps by %i h and back: nothing is lost for it, and a host that dies is found as before',
  async (kind, hours) => {
    const clock = newClock()
    const scene = await start(3, 4, { env: clock.env(), ...(kind === 'PostgreSQL' ? { servers: 1 } : {}) })
    await scene.worker('a')
    const mortal = await scene.worker('b')
    const web = await scene.service('web', 2)
    const before = web.table
    const seen = web.frames.length
    const signal = (name: NodeJS.Signals) => scene.server.child.kill(name)
    await clock.step(hours, signal)
    const instants = await renewals(scene, 10)
    const ahead = (Date.parse(instants.at(-1) ?? '') - Date.now()) / 3_600_000
    expect(ahead).toBeCloseTo(kind === 'embedded' ? hours : 0, 1)
    expect(web.table).toEqual(before)
    expect(web.frames.slice(seen).filter((frame) => frame.kind === 'DELTA')).toEqual([])

    await mortal.end('SIGKILL')
    await clock.step(0, signal)
    await scene.becomes('b', 'LOST')
    await web.until(
      'it is replaced',
      (table) => table.length === 2 && table.every((address) => portOf(address) < 21_100),
      60,
    )
    // Nothing may be left: its worker stops what runs there still.
    mortal.start()
    await scene.becomes('b', 'REACHABLE')
  },
)

test('the whole machine is suspended for an hour: nothing is lost for it, and what became due is done', async () => {
  const [clock, workerClock] = [newClock(), newClock()]
  const scene = await start(3, 4, { env: clock.env() })
  const worker = await scene.worker('a', { env: workerClock.env({ uptime: true }) })
  const web = await scene.service('web', 2)
  const before = web.table
  const pids = await Promise.all(before.map(pidOf))
  const { client } = scene
  await createService(client, 'fails', 1, {
    command: program('exits-at-once'),
    restart: { maxAttempts: 0 },
    serviceDefaults: { backoff: { baseSeconds: 1_200, maxSeconds: 1_200 } },
  })
  const waits = async () =>
    (await aliveReplicas(client, 'fails')).map(({ id, state }) => (state === 'PENDING' ? id : null))
  await until(async () => (await blockers(scene)).includes('BACKOFF'), 'it waits for 20 minutes')
  const waiting = await waits()
  const seen = web.frames.length

  const server = scene.server.child
  worker.signal('SIGSTOP')
  server.kill('SIGSTOP')
  clock.order(1, (name) => server.kill(name))
  workerClock.order(1, (name) => worker.signal(name))
  server.kill('SIGCONT')
  worker.signal('SIGCONT')
  await Promise.all([clock.taken(), workerClock.taken()])
  await renewals(scene, 10)
  expect(web.table).toEqual(before)
  expect(await Promise.all(before.map(pidOf))).toEqual(pids)
  expect(web.frames.slice(seen).filter(({ kind }) => kind === 'DELTA')).toEqual([])
  await until(async () => (await waits())[0] !== waiting[0], 'what waited for 20 minutes is tried', 30)
})

async function blockers(of: HostScene | undefined): Promise<readonly string[]> {
  const query = '{ service(name: "fails") { blockers { reason } } }'
  const answer = await of?.client.ask<{ service: { blockers: { reason: string }[] } }>(query)
  return answer?.service.blockers.map(({ reason }) => reason) ?? []
}

/** The instants of so many renewals of host a's worker, by the database's clock. */
async function renewals({ client }: HostScene, count: number): Promise<readonly string[]> {
  const query = '{ host(name: "a") { workers { lastSeenAt } } }'
  const seen = new Set<string>()
  await until(
    async () => {
      const { host } = await client.ask<{ host: { workers: { lastSeenAt: string }[] } }>(query)
      seen.add(host.workers[0]?.lastSeenAt ?? '')
      return seen.size > count
    },
    `the worker renews ${count} times`,
    90,
  )
  return [...seen]
}
