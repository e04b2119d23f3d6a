import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reconnectMillis } from '../../../src/worker/link/reconnect.ts'

const random = fc.double({ min: 0, max: 1, noNaN: true })
const servers = fc.integer({ min: 1, max: 9 })
const most = fc.integer({ min: 1, max: 60_000 })

test.each([
  ['a session was lost', 0, 3, [0, 150, 300]],
  ['one of one has failed', 1, 1, [50, 75, 100]],
  ['one of three has failed', 1, 3, [0, 0, 0]],
  ['two of three have failed', 2, 3, [0, 0, 0]],
  ['all three have failed', 3, 3, [50, 75, 100]],
  ['all three have failed, and one of them again', 4, 3, [0, 0, 0]],
  ['all three have failed twice', 6, 3, [100, 150, 200]],
  ['all three have failed five times', 15, 3, [800, 1_200, 1_600]],
  ['all three have failed for an hour', 3_000, 3, [2_500, 3_750, 5_000]],
])('%s: the least, the middle and the longest wait', (_what, failures, of, waits) => {
  expect([0, 0.5, 1].map((chance) => reconnectMillis(failures, of, 5_000, chance))).toEqual(waits)
})

test('workers that lost one server in one instant come to the next one evenly over 300 ms, not in step', () => {
  const perTenth = Array<number>(10).fill(0)
  for (let worker = 0; worker < 300; worker++) {
    const tenth = Math.min(9, Math.floor(reconnectMillis(0, 3, 5_000, (worker + 0.5) / 300) / 30))
    perTenth[tenth] = (perTenth[tenth] ?? 0) + 1
  }
  for (const count of perTenth) expect(Math.abs(count - 30)).toBeLessThanOrEqual(1)
})

test('no wait is longer than the most; after a round none is shorter than half of what it may be, and it doubles up to the most', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), servers, most, random, (rounds, of, mostMillis, chance) => {
      const now = reconnectMillis(rounds * of, of, mostMillis, chance)
      const next = reconnectMillis((rounds + 1) * of, of, mostMillis, chance)
      expect(next).toBeLessThanOrEqual(mostMillis)
      expect(next).toBeGreaterThanOrEqual(now)
      // Rounded to a millisecond each.
      if (100 * 2 ** rounds <= mostMillis) expect(Math.abs(next - 2 * now)).toBeLessThanOrEqual(2)
      const longest = Math.min(mostMillis, 50 * 2 ** rounds)
      expect(now).toBeGreaterThanOrEqual(Math.floor(longest / 2))
      expect(reconnectMillis(0, of, mostMillis, chance)).toBeLessThanOrEqual(mostMillis)
    }),
  )
})

test('within a round over all servers nobody waits', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), servers, most, random, (failures, of, mostMillis, chance) => {
      fc.pre(failures % of !== 0)
      expect(reconnectMillis(failures, of, mostMillis, chance)).toBe(0)
    }),
  )
})
