import { expect, test } from 'vitest'
import { decideRestart } from '../../src/model/restart.ts'

test.each([
  // Policy: at most 3 in 60 s, 5 s apart. Restarts so far, now → what happens.
  [[], 100, 0],
  [[99], 100, 5],
  [[98, 99], 100, 5],
  [[97, 98, 99], 100, null],
  [[40, 98, 99], 100, 5],
  [[41, 98, 99], 100, null],
  [[1, 2, 3], 100, 0],
])('after restarts at %j, at %i, the next one waits %s s', (restarts, now, afterSeconds) => {
  const decision = decideRestart({ maxAttempts: 3, windowSeconds: 60, delaySeconds: 5 }, restarts, now)
  expect(decision).toEqual(
    afterSeconds === null ? { kind: 'giveUp', endReason: 'GAVE_UP' } : { kind: 'restart', afterSeconds },
  )
})

test('no attempts, no restart: it has just ended', () => {
  const decision = decideRestart({ maxAttempts: 0, windowSeconds: 60, delaySeconds: 5 }, [], 100)
  expect(decision).toEqual({ kind: 'giveUp', endReason: 'EXITED' })
})
