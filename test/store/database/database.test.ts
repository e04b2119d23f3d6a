import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/store/database/database.ts'
import { eachDatabase, freshPostgreSQL, onServer, silent } from '../../support/fixtures/databases.ts'

eachDatabase((database) => {
  test('a new database has the default project and queue and an empty fact log', async () => {
    const { prisma } = database()
    expect(await prisma.project.findMany({ select: { name: true, maxReplicas: true } })).toEqual([
      { name: 'default', maxReplicas: null },
    ])
    expect(await prisma.queue.findMany({ select: { name: true, priority: true } })).toEqual([
      { name: 'default', priority: 0 },
    ])
    expect(await prisma.feed.findMany()).toEqual([{ id: 1, head: 0n, floor: 0n }])
  })

  test('a notification reaches its listeners until they leave', async () => {
    const heard: string[] = []
    const notify = (payload: string) => database().prisma.$queryRaw`SELECT pg_notify('shout', ${payload})::text`
    const first = await new Promise<string>((resolve, reject) => {
      database()
        .listen('shout', (payload) => {
          heard.push(payload)
          resolve(payload)
        })
        .then(() => notify('one'), reject)
    })
    expect(first).toBe('one')
    const second = new Promise<string>((resolve, reject) => {
      database()
        .listen('shout', resolve)
        .then((leave) => leave())
        .then(() => database().listen('shout', (payload) => payload === 'three' && resolve('last listener')))
        .then(() => notify('three'))
        .catch(reject)
    })
    expect(await second).toBe('last listener')
    expect(heard).toEqual(['one', 'three'])
  })
})

test('an instant is the same one on a PostgreSQL that was set up in another time zone', async () => {
  const fresh = await freshPostgreSQL()
  const name = new URL(fresh.options.url ?? '').pathname.slice(1)
  await onServer(`ALTER DATABASE "${name}" SET timezone = 'America/St_Johns'`)
  const { prisma, close } = await fresh.open()
  onTestFinished(() => close().then(fresh.drop))
  const at = new Date('2026-07-08T09:10:11.121Z')
  await prisma.batch.create({ data: { id: 'a', result: {}, at } })
  const [written] = await prisma.$queryRaw<
    { seconds: number }[]
  >`SELECT extract(epoch FROM "at")::float8 AS seconds FROM "Batch"`
  expect(written?.seconds).toBe(at.getTime() / 1_000)
  await prisma.$executeRaw`UPDATE "Batch" SET "at" = to_timestamp(${at.getTime() / 1_000 + 60}::float8)`
  expect(await prisma.batch.findMany()).toMatchObject([{ at: new Date('2026-07-08T09:11:11.121Z') }])
  const [given] = await prisma.$queryRaw<
    { seconds: number }[]
  >`SELECT extract(epoch FROM ${at}::timestamptz)::float8 AS seconds`
  expect(given?.seconds).toBe(at.getTime() / 1_000)
})

test('a PostgreSQL that does not answer is told in a sentence without the password', async () => {
  const url = 'postgresql://me:secret@127.0.0.1:1/xce'
  const refusal = String(await openDatabase({ dataDirectory: '.', url, log: silent }).catch((error: unknown) => error))
  expect(refusal).toMatch(/DATABASE_URL.*"xce" on 127.0.0.1:1/)
  expect(refusal).not.toContain('secret')
})
