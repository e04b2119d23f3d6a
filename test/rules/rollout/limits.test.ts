import { expect, test } from 'vitest'
import type { Limit } from '../../../src/model/settings.ts'
import { defaultLimits, resolveLimits } from '../../../src/rules/rollout/limits.ts'

const percent = (value: number): Limit => ({ percent: value })
const count = (value: number): Limit => ({ count: value })

// Columns: n = 0 … 12, each "s/u".
const rows: readonly (readonly [Limit, Limit, string])[] = [
  [percent(25), percent(25), '0/0 1/0 1/0 1/0 1/1 2/1 2/1 2/1 2/2 3/2 3/2 3/2 3/3'],
  [percent(0), percent(25), '0/0 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/2 0/2 0/2 0/2 0/3'],
  [percent(25), percent(0), '0/0 1/0 1/0 1/0 1/0 2/0 2/0 2/0 2/0 3/0 3/0 3/0 3/0'],
  [percent(0), percent(0), '0/0 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1'],
  [percent(1), percent(1), '0/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0'],
  [percent(10), percent(30), '0/0 1/0 1/0 1/0 1/1 1/1 1/1 1/2 1/2 1/2 1/3 2/3 2/3'],
  [percent(50), percent(50), '0/0 1/0 1/1 2/1 2/2 3/2 3/3 4/3 4/4 5/4 5/5 6/5 6/6'],
  [percent(99), percent(99), '0/0 1/0 2/1 3/2 4/3 5/4 6/5 7/6 8/7 9/8 10/9 11/10 12/11'],
  [percent(100), percent(100), '0/0 1/1 2/2 3/3 4/4 5/5 6/6 7/7 8/8 9/9 10/10 11/11 12/12'],
  [percent(0), percent(10), '0/0 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1'],
  [count(0), count(1), '0/0 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1 0/1'],
  [count(1), count(0), '1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0 1/0'],
  [count(3), count(2), '3/0 3/1 3/2 3/2 3/2 3/2 3/2 3/2 3/2 3/2 3/2 3/2 3/2'],
  [count(2), percent(50), '2/0 2/0 2/1 2/1 2/2 2/2 2/3 2/3 2/4 2/4 2/5 2/5 2/6'],
  [percent(100), count(0), '0/0 1/0 2/0 3/0 4/0 5/0 6/0 7/0 8/0 9/0 10/0 11/0 12/0'],
]

test.each(rows)('R1: surge %j, unavailable %j', (maxSurge, maxUnavailable, expected) => {
  const resolved = Array.from({ length: 13 }, (_, n) => {
    const limits = resolveLimits(n, { maxSurge, maxUnavailable })
    return `${limits.maxSurge}/${limits.maxUnavailable}`
  })
  expect(resolved.join(' ')).toBe(expected)
})

test('R1: every percentage of every n agrees with exact arithmetic', () => {
  for (const n of [0, 1, 2, 3, 4, 5, 7, 10, 29, 100, 333, 49_999, 50_000]) {
    for (let value = 0; value <= 100; value++) {
      const product = BigInt(value) * BigInt(n)
      const s = Number((product + 99n) / 100n)
      const u = Number(product / 100n)
      const limits = resolveLimits(n, { maxSurge: percent(value), maxUnavailable: percent(value) })
      expect(limits).toEqual({ maxSurge: s, maxUnavailable: s === 0 && u === 0 ? Math.min(1, n) : u })
    }
  }
})

test('R1: a fixed port or STRICT spread leaves no room for a surge', () => {
  const free = { name: 'http', port: null, protocol: 'TCP' } as const
  const fixed = { name: 'http', port: 8080, protocol: 'TCP' } as const
  const usual = { maxSurge: percent(25), maxUnavailable: percent(25) }
  const crowded = { maxSurge: percent(0), maxUnavailable: percent(25) }
  expect(defaultLimits([], 'BEST_EFFORT')).toEqual(usual)
  expect(defaultLimits([free], 'NONE')).toEqual(usual)
  expect(defaultLimits([free, fixed], 'NONE')).toEqual(crowded)
  expect(defaultLimits([], 'STRICT')).toEqual(crowded)
  expect(resolveLimits(3, defaultLimits([fixed], 'BEST_EFFORT'))).toEqual({ maxSurge: 0, maxUnavailable: 1 })
})
