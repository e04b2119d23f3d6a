import { expect, test } from 'vitest'
import { ServiceStore } from '../support/serviceStore.ts'
import { grantOf, manualContext, newService, reporter, reportOf } from '../support/services.ts'

test('a service is created, placed, becomes ready, is scaled and deleted', () => {
  const ctx = manualContext()
  const store = new ServiceStore(newService({ replicas: 2 }), ctx)
  expect(store.snapshot.columns).toMatchObject({ status: 'PROGRESSING', desiredReplicas: 2, activeReplicas: 2 })
  expect(store.snapshot.rollout).toMatchObject({ number: 1, fromVersion: null, state: 'ROLLING', hold: { reason: 'QUEUED', count: 2 } })
  const port = (number: number) => ({ ports: [{ name: 'http', port: number, protocol: 'TCP' as const }] })
  const grants = store.alive.map((row, at) => grantOf(row.id, port(20_000 + at)))
  store.commit(ctx, { kind: 'grant', grants })
  expect(store.alive.map((row) => row.state)).toEqual(['STARTING', 'STARTING'])
  store.commit(ctx, { kind: 'report', reporter: reporter(), sequence: 1, reports: store.alive.map((row) => reportOf(row)) })
  expect(store.snapshot.columns).toMatchObject({ status: 'HEALTHY', readyReplicas: 2, availableReplicas: 2, blockers: [] })
  expect(store.snapshot.rollout).toMatchObject({ state: 'COMPLETED', hold: null, availableReplicas: 2 })
  expect([...store.table.values()].map(({ port, ready }) => [port, ready])).toEqual([
    [20_000, true],
    [20_001, true],
  ])
  store.commit(ctx, { kind: 'scale', replicas: 1, expectedRevision: null, maxReplicas: null, actor: 'alice' })
  expect(store.alive.map((row) => row.state)).toEqual(['RUNNING', 'STOPPING'])
  store.commit(ctx, { kind: 'delete', expectedRevision: null, actor: 'alice' })
  const reports = store.alive.map((row) => reportOf(row, { state: 'ENDED', ready: false, endReason: 'STOPPED', exitCode: 0 }))
  store.commit(ctx, { kind: 'report', reporter: reporter(), sequence: 2, reports })
  expect(store.snapshot.columns).toMatchObject({ status: 'DELETING', deletedAt: ctx.now })
  expect([store.usedQuota, store.table.size]).toEqual([0, 0])
})
