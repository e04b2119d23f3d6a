import { beforeAll, describe, expect, test } from 'vitest'
import { updateIntentOf } from '../../../src/graphql/service/updateService.ts'
import type { RolloutId, ServiceId } from '../../../src/model/id.ts'
import { place } from '../../../src/rules/placement/placement.ts'
import { readPlacement } from '../../../src/store/read/readPlacement.ts'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

// The mutations of rollouts and what the API shows of them. No worker is here, so that replicas stay PENDING; a service of none is complete at once.

const api = openApi()

const serviceFields = `id name settings { rollout { maxSurge minReadySeconds } } desiredReplicas paused status specRevision updatedReplicas profileRevision { revision }
  version { number command env { name value } sameContentAs origin createdBy }
  rollouts { nodes { number state from { number } to { number } } } versions { nodes { number origin } }
  replicas(filter: { states: [PENDING] }) { nodes { index version { number } leaving } }`
const rolloutFields = `id number state automatic from { number } to { number } desiredReplicas maxSurge maxUnavailable minReadySeconds
  progressDeadlineSeconds blocker { reason message remedy count objects { ... on Replica { index } } } oldReplicas updatedReplicas deadlineAt finishedAt startedBy`

const mutate = async (mutation: string, input: Data): Promise<Data> =>
  (await api().data(documentOf(mutation, `service { ${serviceFields} } rollout { ${rolloutFields} }`), { input }))[
    mutation
  ]

const stateOf = async (name: string): Promise<Data> =>
  (await api().data(`query ($name: String!) { service(name: $name) { ${serviceFields} } }`, { name })).service

const eventsOf = async (name: string): Promise<string[]> => {
  const { service } = await api().data(
    'query ($name: String!) { service(name: $name) { events { nodes { message } } } }',
    { name },
  )
  return service.events.nodes.map(({ message }: Data) => message).reverse()
}

beforeAll(async () => {
  await withProfile(api(), { env: [{ name: 'A', value: 'profile' }] })
})

describe('updateService', () => {
  test('makes a version and a rollout, whose hold names a replica at once', async () => {
    await withService(api(), 'update', { replicas: 4 })
    const { service, rollout } = await mutate('updateService', {
      service: { name: 'update' },
      command: ['serve', 'two'],
    })
    expect(service).toMatchObject({
      version: { number: 2, command: ['serve', 'two'], sameContentAs: null, origin: 'UPDATE', createdBy: 'alice' },
      updatedReplicas: 2,
      status: 'PROGRESSING',
      rollouts: {
        nodes: [
          { number: 2, state: 'ROLLING', from: null, to: { number: 2 } },
          { number: 1, state: 'SUPERSEDED', from: null, to: { number: 1 } },
        ],
      },
    })
    expect(rollout).toMatchObject({
      number: 2,
      state: 'ROLLING',
      automatic: false,
      desiredReplicas: 4,
      maxSurge: 1,
      maxUnavailable: 1,
      startedBy: 'alice',
      finishedAt: null,
      blocker: {
        reason: 'NO_HOST',
        message: 'Waiting for a place for update[3] and 1 more: There is no host. Start a worker on one.',
        count: 2,
        remedy: 'Start a worker on one.',
        objects: [{ index: 3 }],
      },
    })
    expect(await eventsOf('update')).toEqual(
      expect.arrayContaining([
        'alice updated update to version 2.',
        'update: rolling to 2, 2 of 4 updated, waiting for a place for update[3] and 1 more: There is no host. Start a worker on one.',
      ]),
    )
  })

  test('what is left out stays as it is, env replaces the own list, and command null goes back to the profile', async () => {
    await withService(api(), 'parts', { replicas: 0 })
    const update = (input: Data) => mutate('updateService', { service: { name: 'parts' }, ...input })
    const env = async (input: Data) => {
      const { version } = (await update(input)).service
      return [version.command, Object.fromEntries(version.env.map(({ name, value }: Data) => [name, value]))]
    }
    expect(await env({ env: [{ name: 'B', value: '1' }] })).toEqual([['serve'], { A: 'profile', B: '1' }])
    expect(await env({ command: ['other'] })).toEqual([['other'], { A: 'profile', B: '1' }])
    expect(await env({ env: [], unsetEnv: ['A'] })).toEqual([['other'], {}])
    expect(await env({ command: null })).toEqual([['serve'], {}])
    const { service } = await update({ env: null })
    expect(service.version).toMatchObject({ number: 6, sameContentAs: 1, command: ['serve'] })
    expect(
      service.rollouts.nodes.map(({ number, state, from }: Data) => [number, state, from?.number ?? null]),
    ).toEqual([
      [6, 'COMPLETED', 5],
      [5, 'COMPLETED', 4],
      [4, 'COMPLETED', 3],
      [3, 'COMPLETED', 2],
      [2, 'COMPLETED', 1],
      [1, 'COMPLETED', null],
    ])
  })

  test('another profile revision: of content it rolls, of settings alone it is COMPLETED at once', async () => {
    await withProfile(api(), { name: 'revised', command: ['one'] })
    await withService(api(), 'revised', { profile: 'revised', replicas: 0 })
    await withProfile(api(), { name: 'revised', command: ['two'] })
    await withProfile(api(), {
      name: 'revised',
      command: ['two'],
      serviceDefaults: { rollout: { minReadySeconds: 7 } },
    })
    const update = (profileRevision: number) =>
      mutate('updateService', { service: { name: 'revised' }, profileRevision })
    expect(await update(2)).toMatchObject({
      service: { profileRevision: { revision: 2 }, version: { number: 2, command: ['two'] } },
    })
    await mutate('updateService', { service: { name: 'revised' }, replicas: 2 })
    expect(await update(3)).toMatchObject({
      service: { profileRevision: { revision: 3 }, version: { number: 3, sameContentAs: 2 } },
      rollout: { number: 3, minReadySeconds: 7, updatedReplicas: 2, oldReplicas: 0 },
    })
    expect(await update(3)).toMatchObject({ __typename: 'NoChangeError', code: 'NO_CHANGE', path: ['input'] })
    expect(await update(9)).toMatchObject({
      __typename: 'NotFoundError',
      path: ['input', 'profileRevision'],
      message: 'The profile "revised" has no revision 9: it has 1 to 3, give one of them.',
    })
  })

  test('settings are the service’s own and last, alone they are new limits of the rollout, and nothing changed is NO_CHANGE', async () => {
    await withService(api(), 'limits', { replicas: 8 })
    const update = (input: Data) => mutate('updateService', { service: { name: 'limits' }, ...input })
    const first = await update({ command: ['x'], settings: { rollout: { maxSurge: 3, maxUnavailable: '0%' } } })
    expect(first.rollout).toMatchObject({ number: 2, maxSurge: 3, maxUnavailable: 0 })
    expect(first.service.settings.rollout).toMatchObject({ maxSurge: 3 })
    const second = await update({
      settings: { rollout: { maxUnavailable: 2, progressDeadlineSeconds: 30, minReadySeconds: 5 } },
    })
    expect(second.rollout).toMatchObject({
      id: first.rollout.id,
      maxSurge: 3,
      maxUnavailable: 2,
      progressDeadlineSeconds: 30,
      minReadySeconds: 5,
    })
    for (const input of [
      {},
      { command: ['x'] },
      { replicas: 8 },
      { settings: { rollout: { maxSurge: 3 } } },
      { startPaused: true },
    ]) {
      expect(await update(input)).toMatchObject({ __typename: 'NoChangeError', code: 'NO_CHANGE' })
    }
    expect((await update({ command: ['y'] })).rollout).toMatchObject({
      number: 3,
      maxSurge: 3,
      maxUnavailable: 2,
      minReadySeconds: 5,
    })
    const { service } = await update({ settings: { rollout: null } })
    expect(service.settings.rollout).toMatchObject({ maxSurge: '25%' })
  })

  test('replicas and version in one mutation; replicas alone begin no rollout', async () => {
    await withService(api(), 'both', { replicas: 2 })
    const both = await mutate('updateService', { service: { name: 'both' }, replicas: 6, command: ['x'] })
    expect(both).toMatchObject({
      service: { desiredReplicas: 6, version: { number: 2 } },
      rollout: { number: 2, desiredReplicas: 6 },
    })
    const alone = await mutate('updateService', { service: { name: 'both' }, replicas: 3 })
    expect(alone).toMatchObject({
      service: { desiredReplicas: 3, version: { number: 2 } },
      rollout: { number: 2, desiredReplicas: 3 },
    })
    await api().data(documentOf('applyProject'), { input: { name: 'small', maxReplicas: 3 } })
    await withService(api(), 'small', { project: 'small', replicas: 1 })
    expect(
      await mutate('updateService', { service: { project: 'small', name: 'small' }, replicas: 4, command: ['x'] }),
    ).toMatchObject({
      __typename: 'QuotaExceededError',
      limit: 3,
      requested: 4,
    })
  })

  test('a key names the same rollout again, and what was meant for another state is a CONFLICT', async () => {
    await withService(api(), 'keyed', { replicas: 1 })
    const { specRevision } = await stateOf('keyed')
    const input = { service: { name: 'keyed' }, command: ['x'], idempotencyKey: 'u1' }
    const first = await mutate('updateService', input)
    await mutate('updateService', { service: { name: 'keyed' }, command: ['y'] })
    const again = await mutate('updateService', input)
    expect(again.rollout).toMatchObject({ id: first.rollout.id, number: 2, state: 'SUPERSEDED' })
    for (const mutation of ['updateService', 'restartService', 'pauseRollout', 'resumeRollout', 'rollbackService']) {
      const change = mutation === 'updateService' ? { command: ['z'] } : {}
      expect(
        await mutate(mutation, { service: { name: 'keyed' }, expectedRevision: specRevision, ...change }),
      ).toMatchObject({
        __typename: 'ConflictError',
        path: ['input', 'expectedRevision'],
        specRevision: (await stateOf('keyed')).specRevision,
      })
    }
  })

  test('20 at once with one expectedRevision: one wins', async () => {
    await withService(api(), 'race', { replicas: 1 })
    const { specRevision: expectedRevision } = await stateOf('race')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        mutate('updateService', { service: { name: 'race' }, command: [`c${at}`], expectedRevision }),
      ),
    )
    expect(answers.filter(({ __typename }) => __typename === 'UpdateServicePayload')).toHaveLength(1)
    expect(answers.filter(({ __typename }) => __typename === 'ConflictError')).toHaveLength(19)
  })

  test('different parts changed at once are both kept', async () => {
    await withService(api(), 'merge', { replicas: 0 })
    const update = (input: Data) => mutate('updateService', { service: { name: 'merge' }, ...input })
    await Promise.all([update({ command: ['x'] }), update({ env: [{ name: 'B', value: '1' }] })])
    expect((await stateOf('merge')).version).toMatchObject({
      number: 3,
      command: ['x'],
      env: [
        { name: 'A', value: 'profile' },
        { name: 'B', value: '1' },
      ],
    })
  })
})

describe('pauseRollout and resumeRollout', () => {
  test('stop the version steps and the deadline, and start both again', async () => {
    await withService(api(), 'pause', { replicas: 2 })
    expect(await mutate('pauseRollout', { service: { name: 'pause' } })).toMatchObject({
      service: { paused: true, status: 'PAUSED' },
      rollout: { state: 'PAUSED', deadlineAt: null, blocker: { reason: 'ROLLOUT_PAUSED' } },
    })
    expect(await mutate('pauseRollout', { service: { name: 'pause' } })).toMatchObject({
      __typename: 'InvalidStateError',
      message: expect.stringContaining('paused already'),
    })
    expect(await mutate('resumeRollout', { service: { name: 'pause' } })).toMatchObject({
      service: { paused: false, status: 'PROGRESSING' },
      rollout: { state: 'ROLLING', deadlineAt: expect.any(String) },
    })
    expect(await mutate('resumeRollout', { service: { name: 'pause' } })).toMatchObject({
      __typename: 'InvalidStateError',
      path: ['input', 'service'],
      message: 'Service pause is not paused: there is nothing to resume.',
    })
  })

  test('startPaused: nothing steps before resumeRollout', async () => {
    await withService(api(), 'start-paused', { replicas: 2 })
    const { service, rollout } = await mutate('updateService', {
      service: { name: 'start-paused' },
      command: ['x'],
      startPaused: true,
    })
    expect(service).toMatchObject({ paused: true, status: 'PAUSED', version: { number: 2 } })
    expect(service.replicas.nodes.map(({ version }: Data) => version.number)).toEqual([1, 1])
    expect(rollout).toMatchObject({ state: 'PAUSED', deadlineAt: null })
    const resumed = await mutate('resumeRollout', { service: { name: 'start-paused' } })
    expect(resumed.service.replicas.nodes.map(({ version }: Data) => version.number)).toEqual([2, 1, 1])
  })

  test('what is complete is not rolling', async () => {
    await withService(api(), 'complete', { replicas: 0 })
    expect(await mutate('pauseRollout', { service: { name: 'complete' } })).toMatchObject({
      __typename: 'InvalidStateError',
      path: ['input', 'service'],
      message: 'No rollout of service complete is under way: there is nothing to pause.',
    })
  })
})

test('a rollout that may be rolled back automatically is watched once it is complete, and an update ends that', async () => {
  await withProfile(api(), { name: 'watched', serviceDefaults: { rollout: { autoRollback: true, watchSeconds: 90 } } })
  await withService(api(), 'watched', { profile: 'watched', replicas: 0 })
  const rollouts = async () => {
    const { service } = await api().data(
      '{ service(name: "watched") { rollouts { nodes { state finishedAt watchUntil } } } }',
    )
    return service.rollouts.nodes.map(({ state, finishedAt, watchUntil }: Data) => [
      state,
      watchUntil === null ? null : (Date.parse(watchUntil) - Date.parse(finishedAt)) / 1_000,
    ])
  }
  expect(await rollouts()).toEqual([['COMPLETED', 90]])
  await mutate('updateService', { service: { name: 'watched' }, command: ['two'] })
  expect(await rollouts()).toEqual([
    ['COMPLETED', 90],
    ['COMPLETED', null],
  ])
})

describe('restartService', () => {
  test('marks all replicas as leaving and begins at 0 updated ones', async () => {
    await withService(api(), 'restart', { replicas: 3 })
    const { service, rollout } = await mutate('restartService', { service: { name: 'restart' } })
    expect(service.version).toMatchObject({ number: 2, sameContentAs: 1, origin: 'RESTART' })
    expect(rollout).toMatchObject({ number: 2, state: 'ROLLING', oldReplicas: 3, updatedReplicas: 1 })
    expect(service.replicas.nodes.map(({ version, leaving }: Data) => [version.number, leaving])).toEqual([
      [2, null],
      [1, 'RESTART'],
      [1, 'RESTART'],
      [1, 'RESTART'],
    ])
  })
})

describe('rollbackService', () => {
  test('goes back to the last completed version with other content, and to any by number', async () => {
    await withService(api(), 'back', { replicas: 0 })
    const back = (input: Data = {}) => mutate('rollbackService', { service: { name: 'back' }, ...input })
    expect(await back()).toMatchObject({
      __typename: 'InvalidStateError',
      path: ['input', 'service'],
      message: 'Service back cannot be rolled back: it has one version only. Update it instead.',
    })
    expect(await back({ toVersion: 1 })).toMatchObject({ __typename: 'NoChangeError', path: ['input', 'toVersion'] })
    await mutate('updateService', { service: { name: 'back' }, command: ['two'] })
    await mutate('restartService', { service: { name: 'back' } })
    expect(await back()).toMatchObject({
      service: { version: { number: 4, sameContentAs: 1, command: ['serve'], origin: 'ROLLBACK' } },
      rollout: { number: 4, state: 'COMPLETED', from: { number: 3 }, automatic: false },
    })
    expect(await back()).toMatchObject({ service: { version: { number: 5, sameContentAs: 2, command: ['two'] } } })
    expect(await back({ toVersion: 3 })).toMatchObject({ __typename: 'NoChangeError' })
    expect(await back({ toVersion: 4 })).toMatchObject({ service: { version: { number: 6, sameContentAs: 1 } } })
    for (const toVersion of [0, -1, 7, 2_147_483_647]) {
      expect(await back({ toVersion })).toMatchObject({
        __typename: 'NotFoundError',
        path: ['input', 'toVersion'],
        message: `Service back has no version ${toVersion}: its newest is 6.`,
      })
    }
  })

  test('of an unfinished rollout goes back to where it came from', async () => {
    await withService(api(), 'half', { replicas: 0 })
    await mutate('updateService', { service: { name: 'half' }, replicas: 4, command: ['two'] })
    const { service, rollout } = await mutate('rollbackService', { service: { name: 'half' } })
    expect(rollout).toMatchObject({ number: 3, from: { number: 1 }, to: { number: 3 }, state: 'ROLLING' })
    expect(service).toMatchObject({ desiredReplicas: 4, version: { sameContentAs: 1 } })
    expect(service.rollouts.nodes[1]).toMatchObject({ number: 2, state: 'ROLLED_BACK' })
  })

  test('300 versions, then "previous" is right, and every content that is kept is known again', async () => {
    const { app } = api()
    const id = (await withService(api(), 'many', { replicas: 0 })).replace('Service_', '') as ServiceId
    for (let at = 2; at <= 300; at++) {
      const input = { service: { project: 'default', name: 'many' }, command: [`v${at}`] }
      const { intent } = await updateIntentOf(app, input, { actor: 'alice', why: null }, app.newId() as RolloutId)
      expect(await app.committer.submit(id, intent)).toEqual({ kind: 'done', changed: true })
    }
    // Another server, or this one after a restart: only what the database has is known.
    app.committer.cache.clear()
    expect((await mutate('rollbackService', { service: { name: 'many' } })).service.version).toMatchObject({
      number: 301,
      sameContentAs: 299,
      command: ['v299'],
    })
    expect(
      (await mutate('updateService', { service: { name: 'many' }, command: ['v250'] })).service.version,
    ).toMatchObject({
      number: 302,
      sameContentAs: 250,
    })
    expect((await mutate('rollbackService', { service: { name: 'many' } })).service.version).toMatchObject({
      sameContentAs: 299,
    })
  }, 120_000)

  test('deleted and created again under the same name there is no old history', async () => {
    await withService(api(), 'anew', { replicas: 0 })
    await mutate('updateService', { service: { name: 'anew' }, command: ['two'] })
    await api().data(documentOf('deleteService'), { input: { service: { name: 'anew' } } })
    await withService(api(), 'anew', { replicas: 0 })
    expect((await stateOf('anew')).versions.nodes).toEqual([{ number: 1, origin: 'CREATE' }])
    expect(await mutate('rollbackService', { service: { name: 'anew' } })).toMatchObject({
      __typename: 'InvalidStateError',
    })
    expect(await mutate('rollbackService', { service: { name: 'anew' }, toVersion: 2 })).toMatchObject({
      __typename: 'NotFoundError',
    })
  })
})

test('while it is being deleted nothing of this is possible', async () => {
  const { app } = api()
  const input = {
    name: 'w1',
    host: 'node1',
    addresses: ['10.0.0.1'],
    cpuMillis: 64_000,
    memoryMiB: 65_536,
    portRange: { from: 20_000, to: 21_000 },
    softwareVersion: '1',
    protocolVersion: 1,
    stateDirectoryId: 'of w1',
    registrationNumber: 1,
    running: [],
  }
  await api().worker.data(documentOf('registerWorker'), { input })
  const id = (await withService(api(), 'going', { replicas: 1 })).replace('Service_', '') as ServiceId
  const { grants } = place({ ...(await readPlacement(app.database)), now: app.clock.now() })
  await app.committer.submit(id, { kind: 'grant', grants: grants.filter(({ serviceId }) => serviceId === id) })
  await api().data(documentOf('deleteService'), { input: { service: { name: 'going' } } })
  for (const mutation of ['updateService', 'restartService', 'pauseRollout', 'resumeRollout', 'rollbackService']) {
    expect(await mutate(mutation, { service: { name: 'going' } })).toMatchObject({
      __typename: 'InvalidStateError',
      message: expect.stringMatching(/^Service going is being deleted: /),
    })
  }
  expect(await stateOf('going')).toMatchObject({
    status: 'DELETING',
    rollouts: { nodes: [{ number: 1, state: 'CANCELLED' }] },
  })
})

test('Query.rollouts finds the unfinished ones', async () => {
  await withService(api(), 'listed', { replicas: 1 })
  const { rollouts } = await api().data(
    '{ rollouts(filter: { states: [ROLLING] }, first: 100) { nodes { number state service { name } } } }',
  )
  expect(rollouts.nodes).toContainEqual({ number: 1, state: 'ROLLING', service: { name: 'listed' } })
  expect(rollouts.nodes.every(({ state }: Data) => state === 'ROLLING')).toBe(true)
})
