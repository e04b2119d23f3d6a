import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import type { ServiceChange } from '../../../src/rules/draft/change.ts'
import { ServiceTroubles } from '../../../src/systems/warnings/serviceTroubles.ts'
import { readyScene, type Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'

let lines: Record<string, unknown>[] = []
let now = 0
let troubles: ServiceTroubles
beforeEach(() => {
  lines = []
  const log = pino({ level: 'warn', base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) })
  troubles = new ServiceTroubles(log, () => now)
})

const take = (...changes: readonly ServiceChange[]) => {
  for (const change of changes) troubles.take(change)
}

/** One replica ends with a failure, and its replacement is placed when its wait is over. */
function fail(scene: Scene): ServiceChange[] {
  const ended = scene.end(0, { exitCode: 1 })
  return [ended, scene.wait(300).tick(), scene.place()]
}

test('a crash loop is one warning, with the service, the reason and how the replica ended', () => {
  const scene = readyScene({ replicas: 2 })
  for (let failures = 0; failures < 5; failures++) take(...fail(scene))
  expect(lines).toEqual([
    {
      level: 40,
      service: 'default/web',
      reason: 'CRASH_LOOP',
      msg: expect.stringMatching(
        /^Service default\/web is in a crash loop: Waiting for web\[0\], which has failed 3 times and is tried again 20 s after the last failure \(exit code 1\)/,
      ),
    },
  ])
})

test('a stalled rollout is one warning, which says what it waits for', () => {
  const scene = readyScene({ replicas: 2 })
  take(scene.commit(updateTo('2')), scene.place(), scene.wait(700).tick(), scene.wait(700).tick())
  expect(lines.map(({ reason }) => reason)).toEqual(['PROGRESS_DEADLINE'])
  expect(lines[0]?.['msg']).toMatch(
    /^Service default\/web has a stalled rollout: Rollout 2 made no progress for 600 s: Waiting for web\[\d\]/,
  )
})

test('a replica without a free port is one warning with the words of placement; a wait for room or quota is none', () => {
  const scene = readyScene({ replicas: 1 })
  take(scene.scale(2))
  const blocked = (reason: 'NO_PORT' | 'NO_CAPACITY' | 'QUOTA', message: string) =>
    scene.commit({
      kind: 'setBlockers',
      blockers: [
        { replica: scene.row(1).id, blocker: { reason, message, count: 1, since: 0, until: null, replica: null } },
      ],
    })
  take(blocked('QUOTA', 'No quota.'), blocked('NO_CAPACITY', 'No room.'))
  expect(lines).toEqual([])
  take(blocked('NO_PORT', 'No host has 1 port of its range free.'))
  expect(lines).toMatchObject([
    {
      service: 'default/web',
      reason: 'NO_PORT',
      msg: expect.stringContaining('No host has 1 port of its range free.'),
    },
  ])
  // It comes and goes: once in ten minutes.
  take(blocked('QUOTA', 'No quota.'), blocked('NO_PORT', 'No host has 1 port of its range free.'))
  expect(lines).toHaveLength(1)
  now += 600_000
  take(blocked('QUOTA', 'No quota.'), blocked('NO_PORT', 'No host has 1 port of its range free.'))
  expect(lines).toHaveLength(2)
})
