import { expect, test } from 'vitest'
import { secondsOf } from '../../../src/simulation/scenarioFile/duration.ts'
import { timeText } from '../../../src/simulation/scenarioFile/print.ts'

test.each([
  [5, 5],
  ['5', 5],
  ['90s', 90],
  ['1m30s', 90],
  ['2h', 7_200],
  ['1h1m1s', 3_661],
  ['500ms', 0.5],
  ['1.5s', 1.5],
  [0, 0],
  ['', null],
  ['s', null],
  ['-1', null],
  [-1, null],
  ['1d', null],
  ['5 s', null],
  [null, null],
  [Number.NaN, null],
])('%j is %j seconds', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds)
})

test.each([
  [0, '0:00'],
  [1_300, '0:01.3'],
  [59_960, '1:00'],
  [61_000, '1:01'],
  [3_723_400, '1:02:03.4'],
])('%i ms is shown as %s', (millis, text) => {
  expect(timeText(millis)).toBe(text)
})
