import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recorded } from './recording.ts'
import { history } from './serviceHistory.ts'
import { ServiceLife } from './serviceLife.ts'

/** A commit that has room for so few rows is cut short in nearly every history, as one of 500 is where a service has very many replicas. */
const mostRows = 4

test('random histories keep every invariant where commits are cut short, and end at n available replicas when all becomes ready', () => {
  fc.assert(
    fc.property(history, (told) => {
      recorded((recording) => {
        const life = new ServiceLife(told, recording, mostRows)
        life.becomeReady()
        const { columns } = life.store.snapshot
        const n = columns.deletionRequestedAt === null ? columns.desiredReplicas : 0
        expect(columns).toMatchObject({ availableReplicas: n, updatedReplicas: n, activeReplicas: n })
      })
    }),
    { numRuns: Number(process.env['XCE_PROPERTY_RUNS'] ?? 1_000) },
  )
}, 300_000)
