import { expect, test } from 'vitest'
import { closeDraft } from '../../../src/rules/commit/close.ts'
import { decide } from '../../../src/rules/commit/decide.ts'
import { openDraft } from '../../../src/rules/draft/draft.ts'
import { createDraft } from '../../../src/rules/service/create.ts'
import { dataOf, messagesOf, readyScene } from '../../support/drivers/scene.ts'
import { manualContext, newService } from '../../support/fixtures/services.ts'

test('a service is created whole: version 1, rollout 1, its rows, and all columns in the fact', () => {
  const ctx = manualContext()
  const draft = createDraft(newService({ replicas: 2 }), null, 'alice', ctx)
  if ('code' in draft) throw new Error(draft.message)
  const change = closeDraft(draft, ctx)
  expect(change).toMatchObject({ id: 'service-1', guard: -1, specFact: 1, quota: { delta: 0 }, hosts: [] })
  expect(change.created).toBe(change.next)
  expect(change.insertedVersions).toMatchObject([{ number: 1, contentNumber: 1, origin: 'CREATE', createdBy: 'alice' }])
  expect(change.rollouts).toMatchObject([{ number: 1 }])
  expect(
    change.insertedReplicas.map(({ index, versionNumber, cpuMillis, memoryMiB }) => [
      index,
      versionNumber,
      cpuMillis,
      memoryMiB,
    ]),
  ).toEqual([
    [0, 1, 100, 64],
    [1, 1, 100, 64],
  ])
  expect(messagesOf(change)).toEqual([
    'alice created service web with 2 replicas.',
    'Replicas 0 and 1 of web are created (version 1).',
  ])
  expect(dataOf(change)).toMatchObject({ before: {}, after: change.columns, wakesPlacement: true })
})

test('more than the project can ever hold: QUOTA_EXCEEDED', () => {
  expect(createDraft(newService({ replicas: 6 }), 5, 'alice', manualContext())).toMatchObject({
    code: 'QUOTA_EXCEEDED',
    limit: 5,
    requested: 6,
  })
})

test('the snapshot that is decided on stays as it is', () => {
  const scene = readyScene({ replicas: 3 })
  const copy = structuredClone(scene.snapshot)
  const draft = openDraft(scene.snapshot)
  decide(draft, { kind: 'kill', replica: scene.row(0).id, actor: 'bob' }, scene.ctx)
  decide(draft, { kind: 'scale', replicas: 9, expectedRevision: null, actor: 'bob' }, scene.ctx)
  decide(draft, { kind: 'delete', expectedRevision: null, actor: 'bob' }, scene.ctx)
  closeDraft(draft, scene.ctx)
  expect(scene.snapshot).toEqual(copy)
})

test('a draft knows whether a user changed the spec', () => {
  const scene = readyScene({ replicas: 3 })
  const draft = openDraft(scene.snapshot)
  const scale = { kind: 'scale', expectedRevision: null, actor: 'bob' } as const
  decide(draft, { kind: 'kill', replica: scene.row(0).id, actor: 'bob' }, scene.ctx)
  decide(draft, { ...scale, replicas: 3 }, scene.ctx)
  decide(draft, { ...scale, replicas: 4, expectedRevision: 99n }, scene.ctx)
  expect(draft.specChanged).toBe(false)
  decide(draft, { ...scale, replicas: 4 }, scene.ctx)
  expect(draft.specChanged).toBe(true)
})
