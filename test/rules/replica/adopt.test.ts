import { expect, test } from 'vitest'
import type { ReplicaReport } from '../../../src/model/intent.ts'
import { dataOf, messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { hostId, reporter, reportOf } from '../../support/fixtures/services.ts'

const host = { id: hostId(1), name: 'node1', addresses: ['10.0.0.1'] }

function adopt(scene: Scene, running: readonly ReplicaReport[], over = {}) {
  return scene.commit({ kind: 'adopt', reporter: reporter({ epoch: 2 }), host, running, ...over })
}

test('R15: what still runs is found again: nothing is started, nothing is stopped', () => {
  const scene = readyScene({ replicas: 3 })
  const before = scene.store.alive
  const change = adopt(
    scene,
    before.map((row) => reportOf(row)),
  )
  expect([change.insertedReplicas, dataOf(change).upserted, dataOf(change).removed, messagesOf(change)]).toEqual([
    [],
    [],
    [],
    [],
  ])
  expect(scene.store.alive).toEqual(before.map((row) => ({ ...row, reportedEpoch: 2, reportedSequence: 0 })))
  expect(change.fences).toEqual([{ workerId: 'worker-1', epoch: 2 }])
})

test('what it no longer has is HOST_LOST, no failure, and replaced with its quota', () => {
  const scene = readyScene({ replicas: 2 })
  const [kept, gone] = [scene.row(0), scene.row(1)]
  const change = adopt(scene, [reportOf(kept)])
  expect(scene.store.rows.get(gone.id)).toMatchObject({ state: 'ENDED', endReason: 'HOST_LOST' })
  expect(scene.row(1)).toMatchObject({ state: 'PENDING', holdsQuota: true, notBefore: null })
  expect(scene.snapshot.slots).toEqual([])
  expect(change.quota.delta).toBe(0)
})

test('a stopping one that it no longer has ends for the reason it was stopped for', () => {
  const scene = readyScene({ replicas: 2 })
  const gone = scene.row(1)
  scene.scale(1)
  adopt(scene, [reportOf(scene.row(0))])
  expect(scene.store.rows.get(gone.id)).toMatchObject({ state: 'ENDED', endReason: 'SCALED_DOWN' })
})

test('what was placed and never heard of stays assigned', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place()
  const before = scene.row(0)
  expect(adopt(scene, []).facts).toEqual([])
  expect(scene.row(0)).toEqual(before)
})

test('what runs by now is taken as a full report: readiness, another start, an end', () => {
  const scene = readyScene({ replicas: 3 })
  const [first, second, third] = [scene.row(0), scene.row(1), scene.row(2)]
  adopt(scene, [
    reportOf(first, { ready: false }),
    reportOf({ ...second, start: 2 }),
    reportOf(third, { state: 'ENDED', ready: false, endReason: 'EXITED', exitCode: 7 }),
  ])
  expect(scene.row(0)).toMatchObject({ ready: false, start: 1 })
  expect(scene.row(1)).toMatchObject({ ready: true, start: 2 })
  expect(scene.store.rows.get(third.id)).toMatchObject({ state: 'ENDED', endReason: 'EXITED', exitCode: 7 })
})

test('what counts its starts anew is another process: the one that was known is HOST_LOST, and replaced', () => {
  const scene = readyScene({ replicas: 2 })
  const [again, kept] = [scene.row(0), scene.row(1)]
  scene.report([reportOf({ ...again, start: 2 })])
  adopt(scene, [reportOf(again, { state: 'STARTING', ready: false }), reportOf(kept)])
  expect(scene.store.rows.get(again.id)).toMatchObject({ state: 'ENDED', endReason: 'HOST_LOST' })
  expect(scene.row(0)).toMatchObject({ state: 'PENDING' })
  expect(scene.row(1)).toMatchObject({ id: kept.id, ready: true })
})

test('what has other ports is another process: the one that was known is HOST_LOST; one that never started is waited for', () => {
  const scene = readyScene({ replicas: 2 })
  const [moved, kept] = [scene.row(0), scene.row(1)]
  adopt(scene, [reportOf(moved, { ports: [31_999] }), reportOf(kept)])
  expect(scene.store.rows.get(moved.id)).toMatchObject({ state: 'ENDED', endReason: 'HOST_LOST' })
  expect(scene.row(1)).toMatchObject({ id: kept.id, ready: true })
  const placed = new Scene({ replicas: 1 })
  placed.place()
  const before = placed.row(0)
  expect(adopt(placed, [reportOf(before, { ports: [31_999] })]).facts).toEqual([])
  expect(placed.row(0)).toEqual(before)
})

test('once more with the same epoch it ends nothing that was reported since', () => {
  const scene = readyScene({ replicas: 1 })
  adopt(scene, [reportOf(scene.row(0))])
  expect(adopt(scene, []).facts).toEqual([])
})

test('the host has other addresses now: its addresses change', () => {
  const scene = readyScene({ replicas: 2 })
  const change = adopt(
    scene,
    scene.store.alive.map((row) => reportOf(row)),
    { host: { ...host, addresses: ['10.9.9.9', 'fd00::9'] } },
  )
  expect(dataOf(change).upserted.map(({ address, addresses }) => [address, addresses.length])).toEqual([
    ['10.9.9.9', 2],
    ['10.9.9.9', 2],
  ])
})

test('R12: a host without an address is not listed, and a blocker says so', () => {
  const scene = readyScene({ replicas: 1 })
  const change = adopt(
    scene,
    scene.store.alive.map((row) => reportOf(row)),
    { host: { ...host, addresses: [] } },
  )
  expect(dataOf(change).removed).toHaveLength(1)
  expect(scene.snapshot.columns.blockers).toMatchObject([{ reason: 'NO_ADDRESS', count: 1 }])
  expect(scene.snapshot.columns.readyReplicas).toBe(1)
})

test('replicas on other hosts are not touched', () => {
  const scene = new Scene({ replicas: 1 })
  scene.place({ hostId: hostId(2), hostName: 'node2' })
  scene.report([reportOf(scene.row(0))], { hostId: hostId(2) })
  expect(adopt(scene, []).facts).toEqual([])
})
