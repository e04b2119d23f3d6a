import { expect, test } from 'vitest'
import { Random } from '../../src/simulation/random.ts'

const drawn = (seed: number, count: number) => {
  const random = new Random(seed)
  return Array.from({ length: count }, () => random.next())
}

test('the same seed draws the same numbers, another one others', () => {
  expect(drawn(1, 100)).toEqual(drawn(1, 100))
  expect(drawn(1, 100)).not.toEqual(drawn(2, 100))
})

test('numbers are spread over 0 to 1', () => {
  const numbers = drawn(7, 10_000)
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...numbers)).toBeLessThan(1)
  const tenths = Array.from(
    { length: 10 },
    (_, tenth) => numbers.filter((number) => Math.floor(number * 10) === tenth).length,
  )
  for (const count of tenths) expect(count).toBeGreaterThan(800)
})

test('a range is drawn in tenths of a second, a single duration as it is, and certain chances draw nothing', () => {
  const random = new Random(3)
  for (let draw = 0; draw < 100; draw++) {
    const millis = random.millis({ from: 2, to: 3 })
    expect(millis % 100).toBe(0)
    expect(millis).toBeGreaterThanOrEqual(2_000)
    expect(millis).toBeLessThanOrEqual(3_000)
  }
  const [one, other] = [new Random(4), new Random(4)]
  expect([one.chance(0), one.chance(1), one.millis({ from: 0.25, to: 0.25 })]).toEqual([false, true, 250])
  expect(one.next()).toBe(other.next())
})
