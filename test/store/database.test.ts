import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { eachDatabase, silent } from '../support/databases.ts'

eachDatabase((database) => {
  test('a new database has the default project and queue and an empty fact log', async () => {
    const { prisma } = database()
    expect(await prisma.project.findMany({ select: { name: true, maxReplicas: true } })).toEqual([{ name: 'default', maxReplicas: null }])
    expect(await prisma.queue.findMany({ select: { name: true, priority: true } })).toEqual([{ name: 'default', priority: 0 }])
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

test('a PostgreSQL that does not answer is told in a sentence without the password', async () => {
  const url = 'postgresql://me:secret@127.0.0.1:1/xce'
  const refusal = String(await openDatabase({ dataDirectory: '.', url, log: silent }).catch((error: unknown) => error))
  expect(refusal).toMatch(/DATABASE_URL.*"xce" on 127.0.0.1:1/)
  expect(refusal).not.toContain('secret')
})
