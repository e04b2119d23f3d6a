import { afterEach, expect, test } from 'vitest'
import { SuspendDetector } from '../../src/http/suspendDetector.ts'

let sleep: SuspendDetector
afterEach(() => sleep.stop())

test('after a sleep what waited is not taken, and all goes on a moment later; a busy moment is no sleep', () => {
  const hand = { now: 0 }
  let wakes = 0
  sleep = new SuspendDetector(
    () => void wakes++,
    () => hand.now,
  )
  const heardAfter = (millis: number) => {
    hand.now += millis
    return [sleep.isWaking(), wakes]
  }
  expect(heardAfter(9_000)).toEqual([false, 0])
  expect(heardAfter(9_000)).toEqual([false, 0])
  expect(heardAfter(30_000)).toEqual([true, 1])
  expect(heardAfter(0)).toEqual([true, 1])
  expect(heardAfter(999)).toEqual([true, 1])
  expect(heardAfter(1)).toEqual([false, 1])
  expect(heardAfter(11_000)).toEqual([true, 2])
})
