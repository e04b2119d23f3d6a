import { expect, test } from 'vitest'
import { messagesOf, readyScene, Scene } from '../../support/drivers/scene.ts'
import { mixOf, profileRevision, restartIntent, roll, updateTo } from '../../support/fixtures/rollouts.ts'
import { settings } from '../../support/fixtures/services.ts'

test('R5: a new number, all current replicas leave, and updatedReplicas starts at 0', () => {
  const scene = readyScene({
    replicas: 4,
    settings: settings({ maxSurge: { count: 0 }, maxUnavailable: { count: 1 } }),
  })
  const change = scene.commit(restartIntent())
  expect(change.insertedVersions).toMatchObject([{ number: 2, contentNumber: 1, origin: 'RESTART' }])
  expect(messagesOf(change)[0]).toBe('alice restarted web as version 2: all its replicas are replaced.')
  expect(scene.store.alive.filter((row) => row.leaving === 'RESTART')).toHaveLength(4)
  expect(scene.snapshot.rollout).toMatchObject({ number: 2, oldReplicas: 3, updatedReplicas: 1 })
  expect(mixOf(scene.snapshot)).toBe('3 v1* + 1 v2')
  expect(roll(scene).at(-1)).toBe('4 v2')
  expect(scene.snapshot.columns).toMatchObject({ completedVersion: 2, previousVersion: null, updatedReplicas: 4 })
})

test('step by step within the limits', () => {
  const scene = readyScene({ replicas: 4 })
  scene.commit(restartIntent())
  expect(mixOf(scene.snapshot)).toBe('3 v1* + 2 v2')
  expect(roll(scene)).toEqual(['1 v1* + 4 v2', '4 v2'])
})

test('once more while it is under way: also those that the first one started', () => {
  const scene = readyScene({ replicas: 2 })
  scene.commit(restartIntent())
  scene.commit(restartIntent())
  expect(mixOf(scene.snapshot)).toBe('2 v1* + 1 v3')
  expect(scene.store.changes.at(-1)?.rollouts.map(({ state }) => state)).toEqual(['SUPERSEDED', 'ROLLING'])
  expect(roll(scene).at(-1)).toBe('2 v3')
})

test('of none it is COMPLETED at once; while DELETING it is INVALID_STATE; CONFLICT', () => {
  const scene = new Scene({ replicas: 0 })
  expect(scene.ask(restartIntent({ expectedRevision: 0n }))).toMatchObject({ refusal: { code: 'CONFLICT' } })
  scene.commit(restartIntent())
  expect(scene.snapshot.rollout).toMatchObject({ number: 2, state: 'COMPLETED' })
  const busy = readyScene({ replicas: 1 })
  busy.commit({ kind: 'delete', expectedRevision: null, actor: 'alice' })
  expect(busy.ask(restartIntent())).toMatchObject({ refusal: { code: 'INVALID_STATE' } })
})

test('a replica that leaves and ends is replaced under the new number', () => {
  const scene = readyScene({ replicas: 2 })
  scene.commit(restartIntent())
  scene.end(0)
  expect(scene.row(0)).toMatchObject({ versionNumber: 2, leaving: null })
})

test('1,200 replicas are marked in commits of 500 rows, and a settings-only update in between takes nothing back', () => {
  const scene = readyScene({ replicas: 1 })
  scene.scale(1200)
  for (let round = 0; round < 4; round++) {
    scene.tick()
    scene.place()
    scene.ready()
  }
  const first = scene.commit(restartIntent())
  expect(first.updatedReplicas).toHaveLength(500)
  expect(scene.snapshot.columns).toMatchObject({ restartNumber: 2, availableReplicas: 1200 })
  expect(scene.snapshot.timers.get('CONTINUE')).toBe(scene.ctx.now)
  scene.commit(
    updateTo(null, { profile: profileRevision(2, { settings: settings({ progressDeadlineSeconds: 900 }) }) }),
  )
  scene.tick()
  expect(scene.snapshot.columns.restartNumber).toBeNull()
  const old = scene.store.alive.filter((row) => row.versionNumber === 1)
  expect(old.every((row) => row.leaving === 'RESTART')).toBe(true)
  expect(old.length).toBeGreaterThan(0)
  expect(scene.snapshot.rollout.finishedAt).toBeNull()
})
