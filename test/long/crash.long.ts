import { expect, test } from 'vitest'
import { CrashStory, type Victim } from '../support/drivers/crashStory.ts'

// As test/story/crash.test.ts, at more points.

const seed = Number(process.env['XCE_CRASH_SEED'] ?? 20_261_129)
const points = Number(process.env['XCE_CRASH_KILLS'] ?? 20)

test.each([
  ['embedded', 'server', seed],
  ['PostgreSQL', 'server', seed + 1],
  ['embedded', 'worker', seed + 2],
  ['PostgreSQL', 'worker', seed + 3],
] as const)('on the database %s, the %s is killed again and again, seed %i', async (database, victim, own) => {
  expect(points).toBeGreaterThan(0)
  await CrashStory.tell({ database, kills: Array.from<Victim>({ length: points }).fill(victim), seed: own })
})
