import { expect, test } from 'vitest'
import { subjectOf } from '../../../src/rules/draft/events.ts'

test.each([
  [[3], 'Replica 3 of web'],
  [[1, 0], 'Replicas 0 and 1 of web'],
  [[0, 1, 2], 'Replicas 0–2 of web'],
  [[9, 0, 1, 2, 3, 7], 'Replicas 0–3, 7 and 9 of web'],
  [[1, 2, 4, 5, 6], 'Replicas 1, 2 and 4–6 of web'],
])('%j is told as %s', (indexes, subject) => {
  expect(subjectOf('web', indexes)).toBe(subject)
})
