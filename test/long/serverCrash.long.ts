import { expect, test, vi } from 'vitest'
import { aliveReplicas, placedReplicas, scale } from '../support/drivers/apiService.ts'
import { type HostScene, hostScenes, pidOf } from '../support/drivers/hostScene.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

const start = hostScenes()

test('one of two servers is killed: the other takes all that comes, and whoever follows it misses nothing', async () => {
  const scene = await start(5, 30, { servers: 2 })
  const [first, second] = scene.servers
  await scene.worker('a')
  await scene.worker('b')
  const web = await scene.service('web', 3)
  if (first === undefined || second === undefined) throw new Error('There are two.')
  const before = web.table
  const pids = await Promise.all(before.map(pidOf))
  const watch = scene.watch('web', second.client())
  expect(await watch.until('the same table', (table) => table.length === 3)).toEqual(before)
  web.close()

  await first.end('SIGKILL')
  scene.asked = second
  await scale(scene.client, 'web', 4)
  const after = await watch.until('four serve', (table) => table.length === 4, 90)
  expect(after.slice(0, 3)).toEqual(before)
  expect(await Promise.all(before.map(pidOf))).toEqual(pids)
  expect(watch.frames.flatMap(({ removed }) => removed)).toEqual([])

  await first.start()
  const again = scene.watch('web', first.client())
  expect(await again.until('the table', (table) => table.length === 4)).toEqual(after)
  await scale(first.client(), 'web', 2)
  for (const each of [watch, again]) await each.until('two are left', (table) => table.length === 2)
})

test('the server that holds placement is killed: the other one places when its turn is over', async () => {
  const scene = await start(5, 30, { servers: 2 })
  const [first, second] = scene.servers
  if (first === undefined || second === undefined) throw new Error('There are two.')
  await scene.worker('a')
  // The other one sleeps, so it is the first that has its turn.
  second.child.kill('SIGSTOP')
  const web = await scene.service('web', 1)
  web.close()
  second.child.kill('SIGCONT')
  // On a slow machine it slept for long, and then takes nothing for a moment.
  const asked = () =>
    second
      .client()
      .ask('{ __typename }')
      .catch(() => null)
  await until(asked, 'it takes what it is asked')
  await scale(first.client(), 'web', 2)
  const of = scene
  const holder = await until(() => holderOf(of), 'it is the turn of one to place')
  await first.end('SIGKILL')
  scene.asked = second
  await scale(scene.client, 'web', 4)
  await placedReplicas(scene.client, 'web', 4)
  expect(await holderOf(scene)).not.toBe(holder)
})

/** Whose turn to place it is now. */
async function holderOf(of: HostScene): Promise<string | null> {
  const { prisma } = await of.open()
  const [lease] = await prisma.$queryRaw<{ holder: string }[]>`
    SELECT "holder" FROM "ServerLease" WHERE "name" = 'placement' AND "until" > clock_timestamp()`
  return lease?.holder ?? null
}

test('the only server is killed in the middle of a scale, again and again: what it took is done in the end, and nothing twice', async () => {
  const scene = await start(5, 30, { servers: 1 })
  await scene.worker('a')
  const web = await scene.service('web', 2)
  web.close()
  for (const replicas of [4, 1, 5, 3]) {
    await scale(scene.client, 'web', replicas)
    await scene.server.end('SIGKILL')
    await scene.server.start()
    const { client } = scene
    await until(
      async () => (await aliveReplicas(client, 'web')).length === replicas,
      `${replicas} are left or there`,
      60,
    )
    const watch = scene.watch('web')
    await watch.until(`${replicas} serve`, (table) => table.length === replicas, 90)
    watch.close()
  }
})

test('both servers are killed for longer than lease and grace: nothing is lost for it, no table is emptied, nothing is replaced', async () => {
  const scene = await start(2, 2, { servers: 2 })
  for (const name of ['a', 'b', 'c']) await scene.worker(name)
  const web = await scene.service('web', 3)
  const before = web.table
  const pids = await Promise.all(before.map(pidOf))
  web.close()
  await Promise.all(scene.servers.map((server) => server.end('SIGKILL')))
  const { prisma } = await scene.open()
  const { revision } = await scene.audit()
  await until(async () => {
    const query = `SELECT max("leaseUntil") + interval '5 seconds' < clock_timestamp() AS over FROM "Worker"`
    const [row] = await prisma.$queryRawUnsafe<{ over: boolean }[]>(query)
    return row?.over
  }, 'every lease and grace is over')
  await Promise.all(scene.servers.map((server) => server.start()))
  const renewed = `SELECT min("leaseUntil") > $1::timestamptz + interval '6 seconds' AS done FROM "Worker"`
  const [from] = await prisma.$queryRawUnsafe<{ now: Date }[]>('SELECT clock_timestamp() AS now')
  await until(
    async () => (await prisma.$queryRawUnsafe<{ done: boolean }[]>(renewed, from?.now))[0]?.done,
    'all renew for longer than lease and grace',
  )
  for (const server of scene.servers) {
    const watch = scene.watch('web', server.client())
    expect(await watch.until('the table', (table) => table.length > 0)).toEqual(before)
  }
  expect(await Promise.all(before.map(pidOf))).toEqual(pids)
  expect((await scene.audit()).revision).toBe(revision)
})
