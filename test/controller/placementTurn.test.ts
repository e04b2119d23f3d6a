import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { PlacementTurn } from '../../src/controller/placementTurn.ts'
import { freshPostgreSQL } from '../support/databases.ts'
import { until } from '../support/until.ts'

test('one server at a time: the others wait for its lease, and have it when it was given up or is over', async () => {
  const made = await freshPostgreSQL()
  const database = await made.open()
  try {
    const [a, b, c] = [0, 1, 2].map(() => new PlacementTurn(database, randomUUID)) as [PlacementTurn, PlacementTurn, PlacementTurn]
    expect(await a.take()).toEqual({ waitMillis: 0, isNew: true })
    expect(await a.take()).toEqual({ waitMillis: 0, isNew: false })
    const { waitMillis } = await b.take()
    expect(waitMillis).toBeGreaterThan(0)
    expect(waitMillis).toBeLessThanOrEqual(3_000)
    // Taking turns in step: one of them has it, whoever asks first.
    await a.give()
    expect((await c.take()).waitMillis).toBe(0)
    expect((await a.take()).waitMillis).toBeGreaterThan(0)
    // c dies: its lease goes over by the database's clock.
    await database.prisma.serverLease.updateMany({ data: { until: new Date(0) } })
    await until(async () => (await b.take()).waitMillis === 0, 'the next one has it')
    expect((await b.take()).waitMillis).toBe(0)
    expect((await database.prisma.serverLease.findMany()).map(({ name }) => name)).toEqual(['placement'])
  } finally {
    await database.close()
    await made.drop()
  }
})

test('many at once: exactly one has the turn', async () => {
  const made = await freshPostgreSQL()
  const database = await made.open()
  try {
    const turns = await Promise.all(Array.from({ length: 8 }, () => new PlacementTurn(database, randomUUID).take()))
    expect(turns.filter(({ waitMillis }) => waitMillis === 0)).toHaveLength(1)
  } finally {
    await database.close()
    await made.drop()
  }
})
