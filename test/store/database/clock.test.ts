import { expect, test } from 'vitest'
import { DatabaseClock } from '../../../src/store/database/clock.ts'

function clockByHand() {
  const hand = { now: 1_000 }
  return { hand, clock: new DatabaseClock(() => hand.now) }
}

test('goes on with the monotonic clock between answers', () => {
  const { hand, clock } = clockByHand()
  clock.observe(50_000)
  hand.now += 250
  expect(clock.now()).toBe(50_250)
})

test('says so when it was never set', () => {
  expect(() => clockByHand().clock.now()).toThrow('before the database answered once')
})

test('a late answer moves nothing', () => {
  const { hand, clock } = clockByHand()
  clock.observe(50_000)
  const sentAt = clock.mark()
  hand.now += 5_000
  // The database answered at once, but the answer came 5 s later.
  clock.observe(50_000, sentAt)
  expect(clock.now()).toBe(55_000)
})

test('follows forward as far as an answer proves', () => {
  const { hand, clock } = clockByHand()
  clock.observe(50_000)
  const sentAt = clock.mark()
  hand.now += 10
  clock.observe(50_300, sentAt)
  expect(clock.now()).toBe(50_300)
})

test('never runs backwards: a small correction is waited for', () => {
  const { hand, clock } = clockByHand()
  clock.observe(50_000)
  expect(clock.now()).toBe(50_000)
  clock.observe(49_500)
  expect(clock.now()).toBe(50_000)
  hand.now += 400
  expect(clock.now()).toBe(50_000)
  hand.now += 200
  expect(clock.now()).toBe(50_100)
})

test.each([
  ['back', -3_600_000],
  ['forward', 3_600_000],
])('follows a real step of the database clock %s', (_name, step) => {
  const { clock } = clockByHand()
  clock.observe(50_000_000)
  expect(clock.now()).toBe(50_000_000)
  clock.observe(50_000_000 + step)
  expect(clock.now()).toBe(50_000_000 + step)
})

test('tells of a real step only, and only who listens still', () => {
  const { hand, clock } = clockByHand()
  let steps = 0
  const leave = clock.onStep(() => void steps++)
  clock.observe(50_000_000)
  hand.now += 3_000
  clock.observe(50_003_500)
  expect(steps).toBe(0)
  clock.observe(53_600_000)
  clock.observe(50_000_000)
  expect(steps).toBe(2)
  leave()
  clock.observe(53_600_000)
  expect(steps).toBe(2)
})
