import { describe, expect, test } from 'vitest'
import type { PlacementHost, PlacementProject } from '../../src/model/host.ts'
import type { ProjectId } from '../../src/model/id.ts'
import type { ServiceIntent } from '../../src/model/intent.ts'
import type { Replica, ServiceSnapshot } from '../../src/model/service.ts'
import type { Settings } from '../../src/model/settings.ts'
import { settingsWith } from '../../src/rules/service/defaults.ts'
import type { RolloutPlan } from '../../src/simulation/plan.ts'
import { Preview, type PreviewInput } from '../../src/simulation/preview.ts'
import { readyScene, type Scene } from '../support/drivers/scene.ts'
import { fixedPort, host } from '../support/fixtures/placementInput.ts'
import { updateTo } from '../support/fixtures/rollouts.ts'
import { content, reportOf, settings } from '../support/fixtures/services.ts'

// Every figure here can be worked out by hand: replicas are ready 10 s after they are placed, and nothing fails.

function previewOf(scene: Scene, intent: ServiceIntent, over: Partial<PreviewInput> = {}): Preview {
  const { snapshot } = scene
  return new Preview({
    snapshot,
    queuePriority: 0,
    project: { id: snapshot.projectId, name: 'default', maxReplicas: null, usedReplicas: snapshot.replicas.size },
    hosts: [hostOf(snapshot)],
    waiting: [],
    projects: [],
    intent,
    readyAfterSeconds: 10,
    now: scene.ctx.now,
    ...over,
  })
}

/** The scene's one host, with what the replicas hold there. */
function hostOf({ replicas }: ServiceSnapshot, over: Parameters<typeof host>[1] = {}): PlacementHost {
  const rows = [...replicas.values()]
  const sum = (of: (row: Replica) => number) => rows.reduce((total, row) => total + of(row), 0)
  return host('host-1', {
    usedCpuMillis: sum((row) => row.cpuMillis),
    usedMemoryMiB: sum((row) => row.memoryMiB),
    takenPorts: rows.flatMap((row) =>
      row.ports.map(({ port, protocol }) => ({ port, protocol, quarantinedUntil: null })),
    ),
    ...over,
  })
}

function planOf(preview: Preview): RolloutPlan {
  expect(preview.refusal).toBeNull()
  while (preview.step());
  expect(preview.faults).toEqual([])
  return preview.plan()
}

/** "0 s: +2 −1 → 5/3": created and stopped, then active and available. */
const told = ({ steps }: RolloutPlan): string[] =>
  steps.map(
    ({ atSeconds, starts, stops, active, available }) =>
      `${atSeconds} s: +${starts.length} −${stops.length} → ${active}/${available}`,
  )

test('R9: without a probe a replica counts 5 s after its process is there, and then the next ones step', () => {
  const kept = content({ readiness: null })
  const scene = readyScene({ replicas: 4, content: kept, settings: settingsWith({}, kept) })
  const plan = planOf(previewOf(scene.wait(5), updateTo('2'), { readyAfterSeconds: 0 }))
  expect(told(plan).filter((step) => !step.includes('+0 −0'))).toEqual([
    '0 s: +2 −1 → 5/3',
    '5 s: +2 −2 → 5/3',
    '10 s: +0 −1 → 4/4',
  ])
})

const withLimits = (replicas: number, over: Partial<Settings> = {}) =>
  readyScene({ replicas, settings: settings(over) })

describe('the default limits, 25 % and 25 %', () => {
  test.each([
    [1, ['0 s: +1 −0 → 2/1', '10 s: +0 −1 → 1/1'], 1, 2, 10],
    [3, ['0 s: +1 −0 → 4/3', '10 s: +1 −1 → 4/3', '20 s: +1 −1 → 4/3', '30 s: +0 −1 → 3/3'], 3, 4, 30],
    [4, ['0 s: +2 −1 → 5/3', '10 s: +2 −2 → 5/3', '20 s: +0 −1 → 4/4'], 3, 5, 20],
    [10, ['0 s: +5 −2 → 13/8', '10 s: +5 −5 → 13/8', '20 s: +0 −3 → 10/10'], 8, 13, 20],
  ] as const)('%s replicas', (replicas, steps, lowestAvailable, highestActive, durationSeconds) => {
    const plan = planOf(previewOf(withLimits(replicas), updateTo('2')))
    expect(told(plan)).toEqual(steps)
    expect(plan).toMatchObject({ lowestAvailable, highestActive, durationSeconds, finished: true, blocker: null })
  })
})

test('one at a time: surge 0, unavailable 1', () => {
  const scene = withLimits(3, { maxSurge: { count: 0 }, maxUnavailable: { count: 1 } })
  const plan = planOf(previewOf(scene, updateTo('2')))
  expect(told(plan)).toEqual(['0 s: +1 −1 → 3/2', '10 s: +1 −1 → 3/2', '20 s: +1 −1 → 3/2', '30 s: +0 −0 → 3/3'])
  expect(plan.steps.map(({ starts, stops }) => [starts, stops])).toEqual([
    [[2], [2]],
    [[1], [1]],
    [[0], [0]],
    [[], []],
  ])
  expect(plan).toMatchObject({ lowestAvailable: 2, highestActive: 3, durationSeconds: 30, finished: true })
})

test('all at once: surge 100 %', () => {
  const plan = planOf(
    previewOf(withLimits(4, { maxSurge: { percent: 100 }, maxUnavailable: { count: 0 } }), updateTo('2')),
  )
  expect(told(plan)).toEqual(['0 s: +4 −0 → 8/4', '10 s: +0 −4 → 4/4'])
})

test('minReadySeconds are waited for at every step', () => {
  const plan = planOf(previewOf(withLimits(1).wait(60), updateTo('2', { settings: { minReadySeconds: 5 } })))
  expect(told(plan)).toEqual(['0 s: +1 −0 → 2/1', '10 s: +0 −0 → 2/1', '15 s: +0 −1 → 1/1'])
  expect(plan.steps.map(({ ready }) => ready)).toEqual([1, 2, 1])
  expect(plan.durationSeconds).toBe(15)
})

test('scaled in the same update: first (R4)', () => {
  const plan = planOf(previewOf(withLimits(4), updateTo('2', { replicas: 8 })))
  // n = 8, s = 2, u = 2: 6 more of the old version, then the rollout. Only 4 are available, so that nothing available is stopped yet.
  expect(plan).toMatchObject({ lowestAvailable: 4, highestActive: 10, finished: true })
  expect(plan.steps.at(-1)).toMatchObject({ active: 8, available: 8 })
})

test('without a probe a replica is ready with its process', () => {
  const scene = readyScene({ replicas: 1, content: content({ readiness: null }) })
  expect(told(planOf(previewOf(scene, updateTo('2'))))).toEqual(['0 s: +1 −0 → 2/1', '10 s: +0 −1 → 1/1'])
})

describe('what does not finish says why', () => {
  test('explicit unavailable 0 with a fixed port on one host', () => {
    const fixed = content({ ports: [fixedPort('http', 8080)] })
    const scene = readyScene({ replicas: 1, content: fixed, settings: settings({ maxUnavailable: { count: 0 } }) })
    const one = hostOf(scene.snapshot, { takenPorts: [{ port: 8080, protocol: 'TCP', quarantinedUntil: null }] })
    const plan = planOf(previewOf(scene, updateTo('2'), { hosts: [one] }))
    expect(plan).toMatchObject({
      finished: false,
      durationSeconds: null,
      lowestAvailable: 1,
      blocker: { reason: 'NO_PORT' },
    })
    const second = host('host-2')
    expect(planOf(previewOf(scene, updateTo('2'), { hosts: [one, second] }))).toMatchObject({
      finished: true,
      durationSeconds: 10,
    })
  })

  test('no quota for the surge', () => {
    const scene = withLimits(3)
    const project: PlacementProject = { id: 'project-1' as ProjectId, name: 'default', maxReplicas: 3, usedReplicas: 3 }
    expect(planOf(previewOf(scene, updateTo('2'), { project }))).toMatchObject({
      finished: false,
      blocker: { reason: 'QUOTA' },
    })
  })

  test('no room for the surge, until the stopped one is gone', () => {
    const scene = withLimits(4)
    const { cpuMillis } = [...scene.snapshot.replicas.values()][0] ?? { cpuMillis: 0 }
    const full = hostOf(scene.snapshot, { cpuMillis: 4 * cpuMillis })
    const plan = planOf(previewOf(scene, updateTo('2'), { hosts: [full] }))
    // One of two starts waits for the 3 s that the stopped one serves on; the other for the next one's.
    expect(plan).toMatchObject({ finished: true, lowestAvailable: 3 })
    expect(plan.durationSeconds).toBeGreaterThan(20)
  })

  test('paused from the first commit on', () => {
    const plan = planOf(previewOf(withLimits(3), updateTo('2', { startPaused: true })))
    expect(plan).toMatchObject({ finished: false, blocker: { reason: 'ROLLOUT_PAUSED' }, steps: [] })
  })

  test('a replica that runs and has not become ready in its time is not expected to', () => {
    const scene = withLimits(4)
    scene.commit(updateTo('2'))
    scene.place()
    const placed = [...scene.snapshot.replicas.values()].filter((row) => row.state === 'STARTING')
    scene.report(placed.map((row) => reportOf(row, { ready: false })))
    scene.confirmStops()
    const scaled = updateTo(null, { replicas: 5 })
    expect(planOf(previewOf(scene, scaled))).toMatchObject({ finished: true })
    const plan = planOf(previewOf(scene.wait(11), scaled))
    expect(plan).toMatchObject({ finished: false, blocker: { reason: 'WAITING_FOR_READY', count: 2 } })
  })
})

test('what is refused is told as a refusal', () => {
  expect(previewOf(withLimits(3), updateTo(null)).refusal).toMatchObject({ code: 'NO_CHANGE' })
  expect(previewOf(withLimits(3), updateTo('2', { settings: { minReadySeconds: 700 } })).refusal).toMatchObject({
    code: 'INVALID_INPUT',
  })
})

test('400 replicas take the seconds and steps of 4', () => {
  const scene = withLimits(400)
  const hosts = [hostOf(scene.snapshot, { cpuMillis: 1_000_000, memoryMiB: 1_000_000 })]
  const plan = planOf(previewOf(scene, updateTo('2'), { hosts }))
  expect(plan).toMatchObject({ lowestAvailable: 300, highestActive: 500, durationSeconds: 20, finished: true })
  expect(plan.steps.map(({ starts, stops }) => [starts.length, stops.length])).toEqual([
    [200, 100],
    [200, 200],
    [0, 100],
  ])
})
