import { expect, inject, test } from 'vitest'
import { runSoak } from '../soak/runSoak.ts'
import { progressLine, summary } from '../soak/telling.ts'

/** A short one, so that `npm run soak` works when somebody needs it: half a minute, and what it takes to come to rest. */
test('half a minute of random changes, kills and freezes on two servers and four workers, two of them on one host', async () => {
  const size = {
    minutes: 0.5,
    seed: Number(process.env['XCE_TEST_SEED'] ?? 20_261_129),
    servers: 2,
    workers: 4,
    services: 3,
  }
  const serverUrl = inject('postgresqlUrl')
  const result = await runSoak({ ...size, serverUrl, onProgress: (progress) => console.log(progressLine(progress)) })
  const { text, failed } = summary(size, result)
  console.log(text)
  expect(failed ? text : 'nothing was wrong').toBe('nothing was wrong')
  expect(result.tally.acknowledged).toBeGreaterThan(0)
  expect(result.tally.frames).toBeGreaterThan(0)
})
