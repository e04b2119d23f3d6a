import { test, vi } from 'vitest'
import { CrashStory } from '../support/drivers/crashStory.ts'

// The server and the worker are killed with SIGKILL at random points of a history; `npm run test:long` does it more often.

vi.setConfig({ testTimeout: 300_000 })

const seed = Number(process.env['XCE_CRASH_SEED'] ?? 20_261_129)

test('the server is killed twice on the embedded database: nothing that was acknowledged is lost, and replicas serve throughout', () =>
  CrashStory.tell({ database: 'embedded', kills: ['server', 'server'], seed }))

test('the server is killed twice on PostgreSQL, and the worker as often', () =>
  CrashStory.tell({
    database: 'PostgreSQL',
    kills: ['server', 'worker', 'worker', 'server'],
    seed,
  }))
