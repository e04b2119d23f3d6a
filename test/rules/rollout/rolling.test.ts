import { describe, expect, test } from 'vitest'
import { rollingStep } from '../../../src/rules/rollout/rolling.ts'
import type { RollingView } from '../../../src/rules/rollout/rollingView.ts'
import { figures, rows, some, view } from '../../support/fixtures/rollingInput.ts'

type Row = readonly [string, RollingView, string]

function table(title: string, cases: readonly Row[]): void {
  describe(title, () => {
    test.each(cases)('%s', (_, input, expected) => {
      expect(figures(input, rollingStep(input))).toBe(expected)
    })
  })
}

table('R2: plain scaling, with nothing outdated', [
  ['creation starts n', view(3, [1, 0], 1, []), '+3 v1'],
  ['creation of none', view(0, [0, 0], 1, []), 'nothing'],
  ['up', view(5, [2, 1], 1, [some(3, 1, 'available')], { grownFrom: 3 }), '+2 v1'],
  ['down, without a surge', view(2, [1, 0], 1, [some(5, 1, 'available')]), '−3 v1'],
  ['to 0', view(0, [0, 0], 1, [some(5, 1, 'available')]), '−5 v1'],
  ['at n', view(5, [2, 1], 1, [some(2, 1, 'pending'), some(3, 1, 'available')]), 'nothing'],
  ['STOPPING and ENDED rows are not counted', withStopping(view(3, [1, 0], 1, [some(3, 1, 'available')])), '+1 v1'],
])

table('R2, R3: Kubernetes’ tables of a rolling update', [
  ['10, no surge: 10 old leave no room for new ones', view(10, [0, 0], 2, [some(10, 1, 'available')]), 'nothing'],
  ['10, surge 2: 10 old and 0 new start 2', view(10, [2, 0], 2, [some(10, 1, 'available')]), '+2 v2'],
  ['10, surge 2: 5 old and 0 new start 7', view(10, [2, 0], 2, [some(5, 1, 'available')]), '+7 v2'],
  [
    '10, surge 2: 10 old and 2 new wait',
    view(10, [2, 0], 2, [some(10, 1, 'available'), some(2, 2, 'running')]),
    'nothing',
  ],
  ['10, unavailable 2: 10 old available go to 8', view(10, [0, 2], 2, [some(10, 1, 'available')]), '−2 v1, +2 v2'],
  [
    '10, unavailable 2: 8 available, the 2 that are not go',
    view(10, [0, 2], 2, [some(8, 1, 'available'), some(2, 1, 'running')]),
    '−2 v1, +2 v2',
  ],
  [
    '10, unavailable 2: 9 available, the other goes and one more',
    view(10, [0, 2], 2, [some(9, 1, 'available'), some(1, 1, 'running')]),
    '−2 v1, +2 v2',
  ],
  [
    '10, unavailable 2: 8 old, 2 new not available: wait',
    view(10, [0, 2], 2, [some(8, 1, 'available'), some(2, 2, 'ready')]),
    'nothing',
  ],
  [
    '10, unavailable 2: 8 old, 2 new available go on',
    view(10, [0, 2], 2, [some(8, 1, 'available'), some(2, 2, 'available')]),
    '−2 v1, +2 v2',
  ],
  ['4, 25 %: between 3 and 5', view(4, [1, 1], 2, [some(4, 1, 'available')]), '−1 v1, +2 v2'],
  ['3, 25 %: never fewer than 3, at most 4', view(3, [1, 0], 2, [some(3, 1, 'available')]), '+1 v2'],
])

// 10 replicas, surge 3, unavailable 2: the concrete example in the deployment controller's source.
const limits = [3, 2] as const
table('R3, R5, R6: Kubernetes’ concrete example', [
  ['the update: 8 old and 5 new', view(10, limits, 2, [some(10, 1, 'available')]), '−2 v1, +5 v2'],
  [
    'the new ones crash: 13 − 8 − 5 = 0',
    view(10, limits, 2, [some(8, 1, 'available'), some(5, 2, 'running')]),
    'nothing',
  ],
  [
    'an old one fails meanwhile: still 0',
    view(10, limits, 2, [some(7, 1, 'available'), some(1, 1, 'running'), some(5, 2, 'running')]),
    'nothing',
  ],
  [
    'rolled back: 13 − 8 − 1 = 4 crashing ones go, 9 are left, 1 is missing below n + s and n',
    view(10, limits, 1, [some(7, 1, 'available'), some(1, 1, 'running'), some(5, 2, 'running')]),
    '−4 v2, +2 v1',
  ],
  [
    'rolled over: 13 − 8 − 0 = 5 go, 5 come',
    view(10, limits, 3, [some(8, 1, 'available'), some(5, 2, 'running')]),
    '−5 v2, +5 v3',
  ],
  ['nothing is left to do at 10 new available', view(10, limits, 2, [some(10, 2, 'available')]), 'nothing'],
])

table('R4: scale while something is outdated', [
  [
    'R4: 8 + 5 at n = 10, to 20 with s = 3, is 14 + 9 (u = 0)',
    view(20, [3, 0], 2, [some(8, 1, 'available'), some(5, 2, 'running')], { grownFrom: 10 }),
    '+6 v1, +4 v2',
  ],
  [
    'R4: with s = 5 it is 15 + 10',
    view(20, [5, 0], 2, [some(8, 1, 'available'), some(5, 2, 'running')], { grownFrom: 10 }),
    '+7 v1, +5 v2',
  ],
  [
    'R4: 5 + 1 at n = 5, to 10 with s = 2, is 10 + 2',
    view(10, [2, 0], 2, [some(5, 1, 'available'), some(1, 2, 'running')], { grownFrom: 5 }),
    '+5 v1, +1 v2',
  ],
  [
    'Kubernetes: 8 + 5 at n = 10, to 15 with s = 3 and u = 2, is 11 + 7',
    view(15, [3, 2], 2, [some(8, 1, 'available'), some(5, 2, 'running')], { grownFrom: 10 }),
    '+3 v1, +2 v2',
  ],
  [
    'the same while paused',
    view(15, [3, 2], 2, [some(8, 1, 'available'), some(5, 2, 'running')], { grownFrom: 10, paused: true }),
    '+3 v1, +2 v2',
  ],
  ['no growth, no share', view(20, [3, 0], 2, [some(8, 1, 'available'), some(5, 2, 'running')]), '+10 v2'],
  [
    'shrinking is the ceiling by R11, 5 old ones left; then R3 and R2 go on',
    view(4, [1, 1], 2, [some(8, 1, 'available'), some(5, 2, 'running')]),
    '−5 v1, −5 v2, +2 v2',
  ],
  ['to 0 stops all', view(0, [0, 0], 2, [some(8, 1, 'available'), some(5, 2, 'running')]), '−8 v1, −5 v2'],
  ['from 0 starts at the target', view(4, [1, 0], 2, [some(1, 1, 'available')], { grownFrom: 0 }), '+4 v2'],
  [
    'within the cap the share is kept',
    view(1_000, [0, 10], 2, [some(8, 1, 'available'), some(2, 2, 'available')], { grownFrom: 10, cap: 100 }),
    '+80 v1, +20 v2, capped',
  ],
  [
    'old pending ones that R3 can do without are never written',
    view(20, [3, 5], 2, [some(8, 1, 'available'), some(5, 2, 'available')], { grownFrom: 10 }),
    '+2 v1, +8 v2',
  ],
])

table('R5: content, not number', [
  [
    'equal content is kept, ready or not',
    view(4, [1, 1], { number: 3, contentNumber: 1 }, [some(3, 1, 'available'), some(1, 2, 'running')]),
    '−1 v2, +1 v3',
  ],
  [
    'a number with other settings only',
    view(4, [1, 1], { number: 2, contentNumber: 1 }, [some(4, 1, 'available')]),
    'nothing',
  ],
  [
    'restart: all leave',
    view(4, [1, 1], { number: 2, contentNumber: 1 }, [some(4, 1, 'available', { leaving: true })]),
    '−1 v1, +2 v2',
  ],
  ['more new ones than n', view(3, [3, 0], 1, [some(4, 1, 'available'), some(2, 2, 'available')]), '−1 v1, −2 v2'],
])

test('R3: those that serve nobody first: without a process, then leaving, then the oldest version, then R11', () => {
  const groups = [
    some(1, 1, 'available'),
    some(1, 2, 'running'),
    some(1, 1, 'running'),
    some(1, 2, 'running', { leaving: true }),
    some(1, 2, 'pending'),
    some(1, 1, 'available', { leaving: true }),
  ]
  const order = [1, 2, 3, 4, 5, 6].map((budget) => {
    const { stops } = rollingStep(view(6, [0, budget], 3, groups, { cap: budget }))
    return stops.map((stop) => stop.id).join(' ')
  })
  expect(order.at(-1)).toBe('v2-2 v2-1 v1-1 v2-0 v1-2 v1-0')
  for (const [i, stops] of order.entries()) expect(order.at(-1)?.startsWith(stops), `a budget of ${i + 1}`).toBe(true)
})

const leaving = { leaving: true }
table('R7: paused', [
  [
    'no version steps',
    view(4, [1, 1], 2, [some(3, 1, 'available'), some(1, 2, 'available')], { paused: true }),
    'nothing',
  ],
  [
    'what leaves gets a twin at its own version, within n + s',
    view(4, [1, 0], 2, [some(2, 1, 'available'), some(2, 1, 'available', leaving)], { paused: true }),
    '+1 v1',
  ],
  [
    'with the twin stopped for at once where u allows it',
    view(4, [0, 1], 2, [some(2, 1, 'available'), some(2, 1, 'available', leaving)], { paused: true }),
    '−1 v1, +1 v1',
  ],
  [
    'its twin is available: it goes, and the next gets one',
    view(
      2,
      [1, 0],
      2,
      [some(1, 1, 'available', leaving), some(1, 1, 'available', leaving), some(1, 1, 'available', { twinOf: 'v1-0' })],
      {
        paused: true,
      },
    ),
    '−1 v1, +1 v1',
  ],
  [
    'an old one that stays and is not available is waited for',
    view(4, [1, 1], 2, [some(1, 1, 'running'), some(3, 1, 'available', leaving)], { paused: true }),
    '+1 v1',
  ],
  [
    'what is missing beyond that starts at the target',
    view(5, [1, 0], 2, [some(3, 1, 'available')], { paused: true }),
    '+2 v2',
  ],
  [
    'twin and stop are both within the cap, or neither',
    view(4, [0, 2], 2, [some(2, 1, 'available'), some(2, 1, 'available', leaving)], { paused: true, cap: 3 }),
    '−1 v1, +1 v1, capped',
  ],
])

test('R7: twins name the one they are for, and go to those without one first', () => {
  const groups = [some(2, 1, 'available', leaving), some(1, 1, 'running', { twinOf: 'v1-1' })]
  const { starts } = rollingStep(view(2, [2, 0], 2, groups, { paused: true }))
  expect(starts).toEqual([{ versionNumber: 1, twinOf: 'v1-0' }])
})

test('the reasons of stops', () => {
  const scale = rollingStep(view(1, [1, 0], 1, [some(2, 1, 'available')]))
  expect(scale.stops).toEqual([{ id: 'v1-1', reason: 'scale' }])
  const rollout = rollingStep(view(2, [0, 1], 2, [some(2, 1, 'available')]))
  expect(rollout.stops).toEqual([{ id: 'v1-1', reason: 'rollout' }])
})

table('the cap of rows', [
  ['a creation of 50,000', view(50_000, [0, 1], 1, []), '+500 v1, capped'],
  ['exactly the cap is not capped', view(500, [0, 1], 1, []), '+500 v1'],
  ['none left', view(3, [1, 0], 1, [], { cap: 0 }), 'nothing, capped'],
  ['none left and nothing to do', view(3, [1, 0], 1, [some(3, 1, 'available')], { cap: 0 }), 'nothing'],
  ['a stop of 50,000', view(0, [0, 0], 1, [some(50_000, 1, 'available')]), '−500 v1, capped'],
])

function withStopping(input: RollingView): RollingView {
  const [first, ...others] = rows([some(3, 1, 'available')])
  return first === undefined ? input : { ...input, replicas: [{ ...first, state: 'STOPPING' }, ...others] }
}
