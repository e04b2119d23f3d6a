import { expect, test } from 'vitest'
import { decideRestart, type ProcessOutcome } from '../../src/model/restart.ts'

const policy = { mode: 'ALWAYS', maxAttempts: 3, windowSeconds: 60, delaySeconds: 5 } as const
const gaveUp = { kind: 'end', endReason: 'GAVE_UP' }

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
  const expected = afterSeconds === null ? gaveUp : { kind: 'restart', afterSeconds }
  expect(decideRestart(policy, 'failed', restarts, now)).toEqual(expected)
  expect(decideRestart(policy, 'completed', restarts, now)).toEqual(expected)
  expect(decideRestart({ ...policy, mode: 'ON_FAILURE' }, 'failed', restarts, now)).toEqual(expected)
})

test.each([
  ['ALWAYS', 'completed', 3, 'restart'],
  ['ALWAYS', 'failed', 3, 'restart'],
  ['ON_FAILURE', 'completed', 3, 'COMPLETED'],
  ['ON_FAILURE', 'failed', 3, 'restart'],
  ['NEVER', 'completed', 3, 'COMPLETED'],
  ['NEVER', 'failed', 3, 'EXITED'],
  // With no attempts allowed it has just ended.
  ['ALWAYS', 'completed', 0, 'EXITED'],
  ['ALWAYS', 'failed', 0, 'EXITED'],
  ['ON_FAILURE', 'completed', 0, 'COMPLETED'],
  ['ON_FAILURE', 'failed', 0, 'EXITED'],
  ['NEVER', 'completed', 0, 'COMPLETED'],
  ['NEVER', 'failed', 0, 'EXITED'],
] as const satisfies readonly (readonly [
  typeof policy.mode | 'ON_FAILURE' | 'NEVER',
  ProcessOutcome,
  number,
  string,
])[])('%s, %s, at most %i restarts: %s', (mode, outcome, maxAttempts, expected) => {
  const decision = decideRestart({ ...policy, mode, maxAttempts }, outcome, [], 100)
  expect(decision.kind === 'restart' ? 'restart' : decision.endReason).toBe(expected)
})
