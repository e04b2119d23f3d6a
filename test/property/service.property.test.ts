import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recorded } from './recording.ts'
import { history } from './serviceHistory.ts'
import { ServiceLife } from './serviceLife.ts'

// fast-check prints the seed and path of a failure: put them into the parameters to live through it again.
const parameters = { numRuns: Number(process.env['XCE_PROPERTY_RUNS'] ?? 2_000) }

test('random histories of one service keep every invariant, and end at n available replicas when all becomes ready', () => {
  fc.assert(
    fc.property(history, (told) => {
      recorded((recording) => {
        const life = new ServiceLife(told, recording)
        life.becomeReady()
        const { columns, rollout } = life.store.snapshot
        if (columns.deletionRequestedAt !== null) {
          expect(columns.deletedAt).not.toBeNull()
          return
        }
        const { desiredReplicas, availableReplicas, updatedReplicas, activeReplicas } = columns
        expect({ availableReplicas, updatedReplicas, activeReplicas }).toEqual({
          availableReplicas: desiredReplicas,
          updatedReplicas: desiredReplicas,
          activeReplicas: desiredReplicas,
        })
        expect(rollout.state).toBe('COMPLETED')
      })
    }),
    parameters,
  )
}, 300_000)

test('the same history gives the same changes', () => {
  fc.assert(
    fc.property(history, (told) => {
      expect(new ServiceLife(told).store.changes).toEqual(new ServiceLife(told).store.changes)
    }),
    { ...parameters, numRuns: 200 },
  )
}, 180_000)
