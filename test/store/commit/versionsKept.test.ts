import { beforeAll, expect, test } from 'vitest'
import type { RolloutId, ServiceId } from '../../../src/model/id.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase } from '../../support/fixtures/databases.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'

eachDatabase((database) => {
  let store: TestStore

  beforeAll(async () => {
    store = await TestStore.on(database(), { versionsKept: 3 })
  })

  const update = async (id: ServiceId, release: string) => {
    const rolloutId = crypto.randomUUID() as RolloutId
    const outcome = await store.committer.submit(id, updateTo(release, { rolloutId }))
    if (outcome.kind !== 'done') throw new Error(`not updated: ${JSON.stringify(outcome)}`)
  }

  const kept = async (serviceId: ServiceId) => {
    const { prisma } = database()
    const where = { where: { serviceId }, orderBy: { number: 'asc' }, select: { number: true } } as const
    const [versions, rollouts] = [await prisma.serviceVersion.findMany(where), await prisma.rollout.findMany(where)]
    return [versions.map(({ number }) => number), rollouts.map(({ number }) => number)]
  }

  test('the commit that makes a version deletes the oldest one that is not kept, and its rollout', async () => {
    // Without replicas each rollout is complete at once.
    const id = await store.create({ replicas: 0 })
    for (const release of ['two', 'three']) await update(id, release)
    expect(await kept(id)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
    await update(id, 'four')
    // The kept rollout 2 came from version 1.
    expect(await kept(id)).toEqual([
      [1, 2, 3, 4],
      [2, 3, 4],
    ])
    await update(id, 'five')
    expect(await kept(id)).toEqual([
      [2, 3, 4, 5],
      [3, 4, 5],
    ])
  })

  test('not what a replica or an unfinished rollout names', async () => {
    const id = await store.create({ replicas: 1 })
    for (const release of ['two', 'three', 'four', 'five']) await update(id, release)
    const [versions] = await kept(id)
    const named = await database().prisma.replica.findMany({
      where: { serviceId: id },
      select: { versionNumber: true },
    })
    for (const { versionNumber } of named) expect(versions).toContain(versionNumber)
  })
})
