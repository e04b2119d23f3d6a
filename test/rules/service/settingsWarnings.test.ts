import { expect, test } from 'vitest'
import { settingsWarnings } from '../../../src/rules/service/settingsWarnings.ts'
import { content, settings } from '../../support/fixtures/services.ts'

const unprobed = content({ readiness: null })
const on = { autoRollback: true, minReadySeconds: 5 }

test.each([
  ['a probe and nothing else', {}, content()],
  ['no probe and the default of 5 s', { minReadySeconds: 5 }, unprobed],
  ['autoRollback with all defaults', on, unprobed],
  ['no watch beside a probe', { ...on, watchSeconds: 0 }, content()],
])('%s: nothing to warn of', (_, over, kept) => {
  expect(settingsWarnings(settings(over), kept)).toEqual([])
})

test.each([
  ['no probe and no wait', { minReadySeconds: 0 }, unprobed, /^minReadySeconds is 0 and there is no readiness probe/],
  ['a watch of nothing', { watchSeconds: 90 }, content(), /^watchSeconds is 90 and autoRollback is off/],
  [
    'no watch and no probe',
    { ...on, watchSeconds: 0 },
    unprobed,
    /crashes later than 5 s after its start is not rolled/,
  ],
  [
    'a watch within a restart',
    { ...on, watchSeconds: 30 },
    content({ restart: { mode: 'ALWAYS', maxAttempts: 2, windowSeconds: 600, delaySeconds: 30 } }),
    /delaySeconds of restart 30/,
  ],
  ['a deadline within the wait after a failure', { ...on, progressDeadlineSeconds: 9 }, content(), /a single failure/],
])('%s', (_, over, kept, sentence) => {
  expect(settingsWarnings(settings(over), kept)).toEqual([expect.stringMatching(sentence)])
})
