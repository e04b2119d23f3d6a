import { expect, test } from 'vitest'
import { type StatusSource, statusOf } from '../../../src/rules/service/status.ts'

const all: StatusSource = {
  columns: { deletionRequestedAt: 1, paused: true, desiredReplicas: 2, availableReplicas: 1, growingUntil: 9 },
  crashLoop: true,
  rollout: { state: 'STALLED', finishedAt: null },
}

// Each takes away the one that holds before it.
test('the first that holds', () => {
  const standing = { ...all, columns: { ...all.columns } }
  const next = (change: (of: typeof standing) => void) => {
    change(standing)
    return statusOf(standing)
  }
  expect(statusOf(standing)).toBe('DELETING')
  expect(next((of) => Object.assign(of.columns, { deletionRequestedAt: null }))).toBe('CRASH_LOOP')
  expect(next((of) => Object.assign(of, { crashLoop: false }))).toBe('STALLED')
  expect(next((of) => Object.assign(of, { rollout: { state: 'ROLLING', finishedAt: null } }))).toBe('PAUSED')
  expect(next((of) => Object.assign(of.columns, { paused: false }))).toBe('PROGRESSING')
  expect(next((of) => Object.assign(of, { rollout: { state: 'COMPLETED', finishedAt: 1 } }))).toBe('PROGRESSING')
  expect(next((of) => Object.assign(of.columns, { growingUntil: null }))).toBe('DEGRADED')
  expect(next((of) => Object.assign(of.columns, { desiredReplicas: 0, availableReplicas: 0 }))).toBe('STOPPED')
  expect(next((of) => Object.assign(of.columns, { desiredReplicas: 1, availableReplicas: 1 }))).toBe('HEALTHY')
})
