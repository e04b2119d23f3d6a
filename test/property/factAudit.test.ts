import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../src/store/database/database.ts'
import { TestStore } from '../support/drivers/store.ts'
import { freshPostgreSQL, type TestDatabase } from '../support/fixtures/databases.ts'
import { FactAudit } from '../support/models/audit/factAudit.ts'

// The judge of the stories with many processes: it must see what is wrong.

let home: TestDatabase
let database: Database
let audit: FactAudit
beforeAll(async () => {
  home = await freshPostgreSQL()
  database = await home.open()
  const store = await TestStore.on(database)
  const reporter = await store.register()
  const id = await store.create({ replicas: 4 })
  await store.place([id])
  await store.reportReady(id, reporter, 1)
  await store.scale(id, 2)
  await store.committer.stop()
})
afterAll(async () => {
  await database.close()
  await home.drop()
})
beforeEach(() => {
  audit = new FactAudit(database)
})

const lastChange = `"revision" = (SELECT max("revision") FROM "Fact" WHERE "kind" = 'change')`

test('finds no fault where all is well, also when it looks again', async () => {
  expect(await audit.look()).toEqual([])
  expect(audit.services.size).toBe(1)
  expect([...audit.services.values()][0]).toMatchObject({
    highestActive: 4,
    columns: { activeReplicas: 2, readyReplicas: 2 },
  })
  expect(await audit.look()).toEqual([])
})

test.each([
  ['a fact that is missing', `DELETE FROM "Fact" WHERE ${lastChange}`, 'the head is'],
  ['a gap', `DELETE FROM "Fact" WHERE "revision" = 2`, 'revision 3 follows 1'],
  [
    'a column that jumps',
    `UPDATE "Fact" SET "data" = jsonb_set("data", '{before,activeReplicas}', '7') WHERE ${lastChange}`,
    'activeReplicas was 7',
  ],
  [
    'a surge',
    `UPDATE "Fact" SET "data" = jsonb_set("data", '{after,activeReplicas}', '5') WHERE ${lastChange}`,
    '5 are active, more than 4',
  ],
  [
    'too few available',
    `UPDATE "Fact" SET "data" = jsonb_set("data", '{after,availableReplicas}', '1') WHERE ${lastChange}`,
    'the controller itself took',
  ],
  [
    'an address too many',
    `UPDATE "Fact" SET "data" = jsonb_set("data", '{upserted}', '[]') WHERE ${lastChange}`,
    'are ready in the table',
  ],
  ['a row that the facts do not know', `UPDATE "Replica" SET "ready" = false WHERE "ready"`, 'the rows list'],
  ['a count', `UPDATE "Service" SET "readyReplicas" = 9`, 'counts are not those of its rows'],
  [
    'an index twice',
    `UPDATE "Replica" SET "index" = 0 WHERE "state" = 'RUNNING'`,
    'two active replicas have one index',
  ],
  ['a port that is not held', `DELETE FROM "HostPort"`, 'is not held for it'],
  ['quota', `UPDATE "Project" SET "usedReplicas" = 1`, 'quota used'],
  ['a host’s use', `UPDATE "Host" SET "usedCpuMillis" = 1`, 'use is not the sum'],
])('finds %s', async (_what, sql, fault) => {
  const undo = new Error('undone')
  const broken = database.prisma.$transaction(async (within) => {
    expect(await within.$executeRawUnsafe(sql)).toBeGreaterThan(0)
    await audit.lookIn(within)
    throw undo
  })
  await expect(broken).rejects.toBe(undo)
  expect(audit.faults.join('\n')).toContain(fault)
})
