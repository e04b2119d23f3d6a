import { describe, expect, test } from 'vitest'
import { messagesOf, readyScene, type Scene } from '../../support/drivers/scene.ts'
import { reportOf } from '../../support/fixtures/services.ts'

const completed = { endReason: 'COMPLETED', exitCode: 0 } as const

/** Web[0] completes its work `seconds` after its start; its replacement is placed and ready when its wait is over. */
function complete(scene: Scene, seconds: number): string[] {
  const told = messagesOf(scene.wait(seconds).end(0, completed))
  const { notBefore } = scene.row(0)
  if (notBefore !== null) scene.ctx.now = notBefore
  scene.tick()
  scene.place()
  scene.ready()
  return told
}

describe('R10: a replica that completes its work', () => {
  test.each([
    [59.999, [{ failures: 1, failedReason: 'COMPLETED' }]],
    [60, []],
    [3_600, []],
  ])('after %d s leaves the failures %j', (seconds, slots) => {
    const scene = readyScene({ replicas: 1 })
    const { id } = scene.row(0)
    scene.wait(seconds).end(0, completed)
    expect(scene.snapshot.slots).toMatchObject(slots)
    expect(scene.snapshot.slots).toHaveLength(slots.length)
    expect(scene.store.rows.get(id)).toMatchObject({ state: 'ENDED', endReason: 'COMPLETED', exitCode: 0 })
    expect(scene.row(0)).toMatchObject({ state: 'PENDING', notBefore: null, holdsQuota: true })
  })

  test('is replaced at once however often that happens, and never silently', () => {
    const scene = readyScene({ replicas: 2 })
    for (let round = 0; round < 10; round++) complete(scene, 60)
    expect(scene.snapshot.slots).toEqual([])
    expect(scene.snapshot.columns).toMatchObject({ activeReplicas: 2, availableReplicas: 2, status: 'HEALTHY' })
    scene.wait(60)
    const change = scene.end(0, completed)
    expect(change.next.columns).toMatchObject({ availableReplicas: 1, status: 'DEGRADED' })
    expect(change.next.columns.blockers).toMatchObject([{ reason: 'QUEUED', count: 1 }])
  })

  test('too soon comes to a crash loop like any other failure, and the blocker says why', () => {
    const scene = readyScene({ replicas: 1 })
    complete(scene, 3)
    const [told] = complete(scene, 3)
    expect(told).toContain('completed its work after 3 s, and less than 60 s counts as a failure')
    expect(told).toContain('After 2 failures its replacement waits 10 s.')
    scene.wait(3).end(0, completed)
    expect(scene.snapshot.columns.status).toBe('CRASH_LOOP')
    const [blocker] = scene.snapshot.columns.blockers
    expect(blocker?.message).toContain('(it completed its work after 3 s, and less than 60 s counts as a failure)')
  })

  test('in good time forgets the failures before it, also those of a crash loop', () => {
    const scene = readyScene({ replicas: 1 })
    for (let round = 0; round < 3; round++) complete(scene, 3)
    expect(scene.snapshot.columns.status).toBe('CRASH_LOOP')
    const [told] = messagesOf(scene.wait(60).end(0, completed))
    expect(told).toContain('has completed its work')
    expect(told).toContain('Its failures are forgotten.')
    expect(scene.snapshot.slots).toEqual([])
    expect(scene.snapshot.columns.status).toBe('DEGRADED')
  })

  test('counts the time from its last start: one that was never heard to run is too soon', () => {
    const scene = readyScene({ replicas: 1 })
    scene.wait(300)
    scene.report([
      reportOf(scene.row(0), { start: 2, state: 'ENDED', ready: false, endReason: 'COMPLETED', exitCode: 0 }),
    ])
    expect(scene.snapshot.slots).toMatchObject([{ failures: 1 }])
  })

  test('while it is being stopped ends for the reason it was stopped for', () => {
    const scene = readyScene({ replicas: 1 })
    const row = scene.row(0)
    scene.kill(0)
    scene.report([reportOf(row, { state: 'ENDED', ready: false, ...completed })])
    expect(scene.store.rows.get(row.id)).toMatchObject({ endReason: 'KILLED' })
    expect(scene.snapshot.slots).toEqual([])
  })
})
