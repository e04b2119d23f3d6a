import { describe, expect, test } from 'vitest'
import type { PlacementHost, PlacementProject } from '../../../src/model/host.ts'
import type { ProjectId } from '../../../src/model/id.ts'
import { readyScene, type Scene } from '../../support/drivers/scene.ts'
import { host, project, taken } from '../../support/fixtures/placementInput.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { content } from '../../support/fixtures/services.ts'

const own = (over: Partial<PlacementProject> = {}) =>
  project({ id: 'project-1' as ProjectId, usedReplicas: 1, ...over })

function sceneIn(hosts: readonly PlacementHost[], projects = [own()]): Scene {
  const scene = readyScene({
    replicas: 1,
    content: content({ ports: [{ name: 'http', port: 8_080, protocol: 'TCP' }] }),
  })
  scene.store.room = { hosts, projects }
  return scene
}

const free = host('host-2')
const busy = host('host-1', { takenPorts: [taken(8_080)] })

describe('the commit of a change has the real reason', () => {
  test.each([
    ['NO_HOST', sceneIn([])],
    ['NO_HOST', sceneIn([host('host-1', { scheduling: 'CORDONED' })])],
    ['NO_PORT', sceneIn([busy])],
    ['NO_CAPACITY', sceneIn([host('host-1', { usedCpuMillis: 8_000 })])],
    ['QUOTA', sceneIn([free], [own({ maxReplicas: 1 })])],
    ['QUEUED', sceneIn([busy, free])],
  ])('%s', (reason, scene) => {
    scene.scale(2)
    expect(scene.row(1).blocker).toMatchObject({ reason, replica: scene.row(1).id, since: scene.ctx.now })
    expect(scene.snapshot.columns.blockers).toMatchObject([{ reason, count: 1 }])
  })

  test('for as many as do not fit: the others are QUEUED', () => {
    const scene = sceneIn([busy, free])
    scene.scale(3)
    expect([1, 2].map((index) => scene.row(index).blocker?.reason)).toEqual(['QUEUED', 'NO_PORT'])
  })

  test('R1: under an explicit "none unavailable" with what would help', () => {
    const scene = sceneIn([busy])
    scene.place({ ports: [] })
    scene.commit(updateTo('two', { settings: { maxSurge: { count: 1 }, maxUnavailable: { count: 0 } } }))
    expect(scene.snapshot.rollout.blocker).toMatchObject({ reason: 'NO_PORT' })
  })

  test('placement that finds the same changes nothing', () => {
    const scene = sceneIn([busy])
    scene.scale(2)
    const blocker = scene.row(1).blocker
    if (blocker === null) throw new Error('It waits.')
    expect(scene.commit({ kind: 'setBlockers', blockers: [{ replica: scene.row(1).id, blocker }] }).facts).toEqual([])
  })

  test('placement hears of it all the same', () => {
    const scene = sceneIn([busy])
    const fact = scene.scale(2).facts.at(-1)
    expect(fact?.kind === 'change' && fact.data.wakesPlacement).toBe(true)
  })
})

test('without knowledge of the room it is QUEUED', () => {
  const scene = sceneIn([])
  scene.store.room = null
  scene.scale(2)
  expect(scene.row(1).blocker?.reason).toBe('QUEUED')
})
