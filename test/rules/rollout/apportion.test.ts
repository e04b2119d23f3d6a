import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apportion } from '../../../src/rules/rollout/apportion.ts'

const shares = (seats: number, counts: Record<number, number>) =>
  apportion(seats, new Map(Object.entries(counts).map(([version, count]) => [Number(version), count]))).map(
    (share) => share.seats,
  )

test.each([
  // R4: 8 + 5 at n = 10 grown to 20 with s = 3 is 14 + 9, with s = 5 it is 15 + 10; 5 + 1 at n = 5 grown to 10 with s = 2 is 10 + 2.
  [10, { 1: 8, 2: 5 }, [6, 4]],
  [12, { 1: 8, 2: 5 }, [7, 5]],
  [6, { 1: 5, 2: 1 }, [5, 1]],
  // Ties go to the newest version.
  [1, { 1: 4, 2: 4 }, [0, 1]],
  [3, { 1: 4, 2: 4 }, [1, 2]],
  [2, { 1: 1, 2: 1, 3: 1 }, [0, 1, 1]],
  [1, { 10: 3, 9: 3 }, [0, 1]],
  [0, { 1: 3, 2: 1 }, [0, 0]],
  [7, { 3: 2 }, [7]],
  [5, { 1: 0, 2: 4 }, [0, 5]],
  [5, {}, []],
  [5, { 1: 0 }, []],
])('%i seats over %j: %j', (seats, counts, expected) => {
  expect(shares(seats, counts)).toEqual(expected)
})

test('every seat is given, and no share is a whole seat from its quota', () => {
  const counts = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 1_000 })), {
    selector: ([version]) => version,
    minLength: 1,
    maxLength: 8,
  })
  fc.assert(
    fc.property(fc.nat(50_000), counts, (seats, rows) => {
      const total = rows.reduce((sum, [, count]) => sum + count, 0)
      const given = apportion(seats, new Map(rows))
      expect(given.reduce((sum, share) => sum + share.seats, 0)).toBe(seats)
      const byVersion = new Map(rows)
      for (const { versionNumber, seats: share } of given) {
        expect(Math.abs(share - (seats * (byVersion.get(versionNumber) ?? 0)) / total)).toBeLessThan(1)
      }
      expect(apportion(seats, new Map([...rows].reverse()))).toEqual(given)
    }),
    { numRuns: 500 },
  )
})
