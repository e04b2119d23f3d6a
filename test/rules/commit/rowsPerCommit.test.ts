import { describe, expect, test } from 'vitest'
import { rowsPerCommit } from '../../../src/model/bounds.ts'
import type { ReplicaReport, ServiceIntent, WorkerIntent } from '../../../src/model/intent.ts'
import type { Replica } from '../../../src/model/service.ts'
import type { ServiceChange } from '../../../src/rules/draft/change.ts'
import { Scene } from '../../support/drivers/scene.ts'
import { hostId, reporter, reportOf, workerOf } from '../../support/fixtures/services.ts'

// One service with 1,200 replicas on one worker: whatever is told of that worker takes several commits, of at most 500 rows each.

const many = 1_200
const of = (kind: WorkerIntent['kind']): WorkerIntent => ({ kind, worker: workerOf(hostId(1)) })

function manyReady(): Scene {
  const scene = new Scene({ replicas: many })
  for (let round = 0; round < 3; round++) {
    scene.tick()
    scene.place()
  }
  scene.ready()
  return scene
}

/** Commits until nothing is due any more. */
function settled(scene: Scene): Scene {
  while (scene.snapshot.timers.has('CONTINUE')) scene.tick()
  return scene
}

const rowsOf = ({ insertedReplicas, updatedReplicas }: ServiceChange) =>
  insertedReplicas.length + updatedReplicas.length
const told = (scene: Scene, over: (row: Replica) => Partial<ReplicaReport>, full = false): ServiceIntent => ({
  kind: 'report',
  reporter: reporter(),
  sequence: ++scene.sequence,
  reports: scene.store.alive.filter((row) => row.hostId !== null).map((row) => reportOf(row, over(row))),
  full,
})
const ended = { state: 'ENDED', ready: false, endReason: 'EXITED', exitCode: 1 } as const
const on = (scene: Scene) => scene.store.alive.filter((row) => row.hostId === hostId(1))

describe('reports', () => {
  test('that all have become not ready', () => {
    const scene = manyReady()
    expect(scene.whole(told(scene, () => ({ ready: false }))).map(rowsOf)).toEqual([500, 500, 200])
    expect(scene.snapshot.columns).toMatchObject({ runningReplicas: many, readyReplicas: 0 })
  })

  test('that all have ended: each with its replacement, which remembers the failure', () => {
    const scene = manyReady()
    expect(scene.whole(told(scene, () => ended)).map(rowsOf)).toEqual([500, 500, 500, 500, 400])
    expect(scene.snapshot.columns.activeReplicas).toBe(many)
    expect(on(scene)).toEqual([])
    expect(scene.snapshot.slots).toHaveLength(many)
  })

  test('what is told twice of one replica is taken in one commit, wherever the first one ends', () => {
    const scene = manyReady()
    const intent = told(scene, () => ({}))
    if (intent.kind !== 'report') throw new Error('A report is one.')
    const twice = intent.reports.flatMap((said) => [said, { ...said, start: said.start + 1, ready: false }])
    scene.whole({ ...intent, reports: twice })
    expect(new Set(scene.store.alive.map(({ start, ready }) => `${start} ${ready}`))).toEqual(new Set(['2 false']))
  })
})

describe('a full report', () => {
  const silent = () => {
    const scene = manyReady()
    expect(scene.whole(of('unreach')).map(rowsOf)).toEqual([500, 500, 200])
    expect(scene.snapshot.columns.readyReplicas).toBe(0)
    return scene
  }

  test('of all: they are ready again', () => {
    const scene = silent()
    expect(scene.whole(told(scene, () => ({}), true)).map(rowsOf)).toEqual([500, 500, 200])
    expect(scene.snapshot.columns).toMatchObject({ readyReplicas: many, status: 'HEALTHY' })
    expect(scene.store.table.size).toBe(many)
  })

  test('of which every other one has ended: no address of an ended one returns, in no commit', () => {
    const scene = silent()
    const gone = new Set(scene.store.alive.filter(({ index }) => index % 2 === 1).map(({ id }) => id))
    for (const change of scene.whole(told(scene, ({ id }) => (gone.has(id) ? ended : {}), true))) {
      for (const fact of change.facts) {
        const upserted = fact.kind === 'change' ? fact.data.upserted : []
        expect(upserted.filter(({ ready, replicaId }) => ready && gone.has(replicaId))).toEqual([])
      }
    }
    expect(scene.snapshot.columns).toMatchObject({ readyReplicas: many / 2, activeReplicas: many })
    expect(on(scene)).toHaveLength(many / 2)
  })

  test('of nothing: all are gone, and that is no failure', () => {
    const scene = silent()
    expect(
      scene.whole({ kind: 'report', reporter: reporter(), sequence: ++scene.sequence, reports: [], full: true }),
    ).toHaveLength(5)
    expect(on(scene)).toEqual([])
    expect(scene.snapshot.columns.activeReplicas).toBe(many)
    expect(scene.snapshot.slots).toEqual([])
  })

  test('told once more it changes nothing', () => {
    const scene = silent()
    const intent = told(scene, () => ({}), true)
    scene.whole(intent)
    expect(scene.whole(intent).map(({ facts }) => facts.length)).toEqual([0])
  })
})

test('a worker that has registered again with half of them: the others are replaced', () => {
  const scene = manyReady()
  const running = scene.store.alive.filter(({ index }) => index < many / 2).map((row) => reportOf(row))
  const host = { id: hostId(1), name: 'node1', addresses: ['10.0.0.1'] }
  const changes = scene.whole({ kind: 'adopt', reporter: reporter({ epoch: 2 }), host, running })
  expect(changes.map(rowsOf)).toEqual([500, 500, 500, 300])
  expect(on(scene)).toHaveLength(many / 2)
  expect(scene.snapshot.columns).toMatchObject({ readyReplicas: many / 2, activeReplicas: many })
})

test('a worker that is lost: each with its replacement', () => {
  const scene = manyReady()
  expect(scene.whole(of('lose')).map(rowsOf)).toEqual([500, 500, 500, 500, 400])
  expect(on(scene)).toEqual([])
  expect(scene.snapshot.columns.activeReplicas).toBe(many)
})

test('a worker that is drained, and then is not: all are to leave, and the ones that have not left stay', () => {
  const scene = manyReady()
  for (const change of scene.whole(of('drain'))) expect(rowsOf(change)).toBeLessThanOrEqual(rowsPerCommit)
  expect(on(settled(scene)).every(({ leaving }) => leaving === 'DRAIN')).toBe(true)
  expect(scene.snapshot.columns.availableReplicas).toBe(many)
  for (const change of scene.whole(of('undrain'))) expect(rowsOf(change)).toBeLessThanOrEqual(rowsPerCommit)
  expect(settled(scene).store.alive.every(({ leaving }) => leaving === null)).toBe(true)
  expect(scene.snapshot.columns).toMatchObject({ availableReplicas: many, activeReplicas: many, blockers: [] })
})

test('what placement says of many that wait reaches all of them', () => {
  const scene = new Scene({ replicas: many })
  settled(scene)
  const blocker = {
    reason: 'NO_CAPACITY',
    message: 'No host has room.',
    count: 1,
    since: 0,
    until: null,
    replica: null,
  } as const
  const holds = scene.store.alive.map(({ id }) => ({ replica: id, blocker }))
  expect(scene.whole({ kind: 'setBlockers', blockers: holds }).map(rowsOf)).toEqual([500, 500, 200])
  expect(scene.snapshot.columns.blockers).toMatchObject([{ reason: 'NO_CAPACITY', count: many }])
})
