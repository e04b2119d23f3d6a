import { expect, test } from 'vitest'
import type { Blocker } from '../../../src/model/blocker.ts'
import { readyScene, Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { hostId, workerOf } from '../../support/fixtures/services.ts'

const blockersOf = (scene: Scene): readonly Blocker[] => scene.snapshot.columns.blockers

test('a wait for a place has the remedy and the project of placement', () => {
  const scene = new Scene({ replicas: 1 })
  const blocker: Blocker = {
    reason: 'QUOTA',
    message: 'Project default has 3 of at most 3 replicas. Raise it.',
    remedy: 'Raise it.',
    objects: [{ type: 'Project', id: 'project-1' as never }],
    count: 1,
    since: scene.ctx.now,
    until: null,
    replica: null,
  }
  scene.commit({ kind: 'setBlockers', blockers: [{ replica: scene.row(0).id, blocker }] })
  for (const told of [blockersOf(scene)[0], scene.snapshot.rollout.blocker]) {
    expect(told).toMatchObject({ reason: 'QUOTA', remedy: 'Raise it.', objects: blocker.objects })
  }
})

test('a replica on a host that is silent is about that host, and says what to do as a sentence', () => {
  const scene = readyScene({ replicas: 1 })
  scene.commit({ kind: 'unreach', worker: workerOf(hostId(1)) })
  const [blocker] = blockersOf(scene)
  expect(blocker).toMatchObject({
    reason: 'HOST_UNREACHABLE',
    remedy: expect.stringMatching(/^See whether that worker runs.*\.$/),
    objects: [{ type: 'Host', id: hostId(1) }],
  })
})

test('a wait that only time ends has no remedy', () => {
  const scene = new Scene({ replicas: 1 })
  expect(blockersOf(scene)).toEqual([expect.not.objectContaining({ remedy: expect.anything() })])
})

test('a paused rollout names the mutation that lets it go on', () => {
  const scene = readyScene({ replicas: 2 })
  scene.commit(updateTo('two', { startPaused: true }))
  expect(blockersOf(scene)).toContainEqual(
    expect.objectContaining({ reason: 'ROLLOUT_PAUSED', remedy: 'Let it go on with resumeRollout.' }),
  )
})
