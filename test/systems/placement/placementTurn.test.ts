import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { PlacementTurn } from '../../../src/systems/placement/placementTurn.ts'
import { freshPostgreSQL } from '../../support/fixtures/databases.ts'

/** Longer than a busy machine takes for a test. */
const leaseSeconds = 600

test('one server at a time: the others wait for its lease, and have it when it was given up or is over', async () => {
  const made = await freshPostgreSQL()
  const database = await made.open()
  try {
    const turn = () => new PlacementTurn(database, randomUUID, leaseSeconds)
    const [a, b, c, d] = [turn(), turn(), turn(), turn()]
    expect(await a.take()).toEqual({ waitMillis: 0, isNew: true })
    expect(await a.take()).toEqual({ waitMillis: 0, isNew: false })
    const { waitMillis } = await b.take()
    expect(waitMillis).toBeGreaterThan(0)
    expect(waitMillis).toBeLessThanOrEqual(leaseSeconds * 1_000)
    // Taking turns in step: one of them has it, whoever asks first.
    await a.give()
    expect((await c.take()).waitMillis).toBe(0)
    expect((await a.take()).waitMillis).toBeGreaterThan(0)
    // c dies: its lease goes over by the database's clock.
    await database.prisma.serverLease.updateMany({ data: { until: new Date(0) } })
    expect((await d.take()).waitMillis).toBe(0)
    // b does not ask before the time that it was told.
    expect((await b.take()).waitMillis).toBeGreaterThan(0)
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
    const turns = await Promise.all(
      Array.from({ length: 8 }, () => new PlacementTurn(database, randomUUID, leaseSeconds).take()),
    )
    expect(turns.filter(({ waitMillis }) => waitMillis === 0)).toHaveLength(1)
  } finally {
    await database.close()
    await made.drop()
  }
})
