import { expect, test } from 'vitest'
import { subjectOf } from '../../../src/rules/draft/events.ts'

test.each([
  [[3], 'Replica 3'],
  [[1, 0], 'Replicas 0 and 1'],
  [[0, 1, 2], 'Replicas 0–2'],
  [[9, 0, 1, 2, 3, 7], 'Replicas 0–3, 7 and 9'],
  [[1, 2, 4, 5, 6], 'Replicas 1, 2 and 4–6'],
])('%j is told as %s', (indexes, subject) => {
  expect(subjectOf(indexes)).toBe(subject)
})
