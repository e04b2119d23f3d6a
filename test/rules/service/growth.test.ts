import { describe, expect, test } from 'vitest'
import { readyScene, type Scene } from '../../support/drivers/scene.ts'
import { updateTo } from '../../support/fixtures/rollouts.ts'
import { reportOf, settings } from '../../support/fixtures/services.ts'

const statusOf = (scene: Scene) => scene.snapshot.columns.status

/** A healthy service of 3 replicas that was just scaled to 5. */
function growing(): Scene {
  const scene = readyScene({ replicas: 3, settings: settings({ progressDeadlineSeconds: 100 }) })
  scene.scale(5)
  return scene
}

describe('a healthy service that is scaled up is PROGRESSING', () => {
  test('until all are available', () => {
    const scene = growing()
    expect(statusOf(scene)).toBe('PROGRESSING')
    scene.place()
    expect(statusOf(scene)).toBe('PROGRESSING')
    scene.ready()
    expect(statusOf(scene)).toBe('HEALTHY')
    expect(scene.snapshot.timers.size).toBe(0)
  })

  test('until a replica is lost that was available, and that stays so until it is whole', () => {
    const scene = growing()
    scene.report([reportOf(scene.row(0), { ready: false })])
    expect(statusOf(scene)).toBe('DEGRADED')
    scene.report([reportOf(scene.row(0))])
    expect(statusOf(scene)).toBe('DEGRADED')
  })

  test('also where the one that is lost was a new one', () => {
    const scene = growing()
    scene.place()
    scene.report([reportOf(scene.row(3))])
    expect(statusOf(scene)).toBe('PROGRESSING')
    scene.report([reportOf(scene.row(3), { ready: false })])
    expect(statusOf(scene)).toBe('DEGRADED')
  })

  test('until the deadline, which each further available replica sets again, and a timer ends it', () => {
    const scene = growing()
    scene.place()
    scene.wait(90).report([reportOf(scene.row(3))])
    scene.wait(99).tick()
    expect(statusOf(scene)).toBe('PROGRESSING')
    expect(scene.snapshot.timers.get('PROGRESS_DEADLINE')).toBe(scene.ctx.now + 1_000)
    scene.wait(1).tick()
    expect(statusOf(scene)).toBe('DEGRADED')
    expect(scene.snapshot.timers.size).toBe(0)
    expect(scene.tick().facts).toEqual([])
  })

  test('also while it is scaled further, up or down', () => {
    const scene = growing()
    scene.wait(90).scale(6)
    scene.wait(90).tick()
    expect(statusOf(scene)).toBe('PROGRESSING')
    scene.scale(4)
    expect(statusOf(scene)).toBe('PROGRESSING')
    scene.scale(3)
    expect(statusOf(scene)).toBe('HEALTHY')
  })

  test('a rollout that begins meanwhile tells its own progress', () => {
    const scene = growing()
    scene.commit(updateTo('two'))
    expect(scene.snapshot.columns).toMatchObject({ status: 'PROGRESSING', growingUntil: null })
  })
})

test('a service that was stopped grows, too', () => {
  const scene = readyScene({ replicas: 1 })
  scene.scale(0)
  scene.confirmStops()
  expect(statusOf(scene)).toBe('STOPPED')
  scene.scale(2)
  expect(statusOf(scene)).toBe('PROGRESSING')
})

test('a degraded service that is scaled up stays DEGRADED', () => {
  const scene = readyScene({ replicas: 3 })
  scene.report([reportOf(scene.row(0), { ready: false })])
  scene.scale(5)
  expect(statusOf(scene)).toBe('DEGRADED')
})
