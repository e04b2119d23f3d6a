import { describe, expect, test } from 'vitest'
import { createContext } from '../../../src/graphql/kit/context.ts'
import { admin, type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()

const profileFields = `id revision command env { name value secret } workingDirectory ports { name port protocol } cpuMillis memoryMiB
  startup { http { port path scheme headers { name value } } failureThreshold }
  readiness { http { port path scheme headers { name value } } tcp { port } exec { command } initialDelaySeconds periodSeconds timeoutSeconds failureThreshold successThreshold }
  liveness { http { port path } tcp { port } exec { command } periodSeconds }
  restart { mode maxAttempts windowSeconds delaySeconds } stop { signal drainSeconds graceSeconds onLostContact }
  serviceDefaults { replicas spread { mode maxPerHost } rollout { maxSurge maxUnavailable minReadySeconds progressDeadlineSeconds autoRollback watchSeconds } backoff { baseSeconds maxSeconds resetAfterSeconds } }
  createdBy profile { name current { revision } revisions { nodes { revision } } }`

const applyProfile = async (input: Data): Promise<Data> =>
  (await api().data(documentOf('applyProfile', `created profileRevision { ${profileFields} }`), { input })).applyProfile

const serviceFields =
  'id name owner desiredReplicas activeReplicas status paused revision specRevision deletionRequestedAt blockers { reason message count } version { number command env { name value secret } origin sameContentAs } rollout { number state from { number } to { number } } replicas { nodes { id index state blocker { reason } endReason } }'

const mutate = async (mutation: string, input: Data, viewer = admin): Promise<Data> => {
  const payload =
    mutation === 'killReplica'
      ? `replica { id state endReason service { ${serviceFields} } }`
      : `service { ${serviceFields} }`
  return (await api().data(documentOf(mutation, payload), { input }, viewer))[mutation]
}

describe('profiles', () => {
  test('defaults', async () => {
    const { created, profileRevision: profile } = await applyProfile({ name: 'plain', command: ['serve', '--now'] })
    expect(created).toBe(true)
    expect(profile).toMatchObject({
      revision: 1,
      command: ['serve', '--now'],
      env: [],
      workingDirectory: null,
      ports: [],
      cpuMillis: 100,
      memoryMiB: 128,
      startup: null,
      readiness: null,
      liveness: null,
      restart: { mode: 'ALWAYS', maxAttempts: 3, windowSeconds: 600, delaySeconds: 1 },
      stop: { signal: 'TERM', drainSeconds: 3, graceSeconds: 10, onLostContact: 'KEEP' },
      serviceDefaults: {
        replicas: 1,
        spread: { mode: 'BEST_EFFORT', maxPerHost: 1 },
        rollout: {
          maxSurge: '25%',
          maxUnavailable: '25%',
          minReadySeconds: 5,
          progressDeadlineSeconds: 600,
          autoRollback: false,
          watchSeconds: 60,
        },
        backoff: { baseSeconds: 10, maxSeconds: 300, resetAfterSeconds: 600 },
      },
      createdBy: 'alice',
      profile: { name: 'plain', current: { revision: 1 }, revisions: { nodes: [{ revision: 1 }] } },
    })
  })

  test('what is given is kept, and secrets are hidden', async () => {
    const { profileRevision: profile } = await applyProfile({
      name: 'full',
      command: ['serve'],
      env: [
        { name: 'GREETING', value: 'two\nlines' },
        { name: 'PASSWORD', value: 'hunter2', secret: true },
      ],
      workingDirectory: '/srv',
      ports: [
        { name: 'http', port: 8080 },
        { name: 'dns', protocol: 'UDP' },
      ],
      cpuMillis: 250,
      memoryMiB: 64,
      startup: {
        http: { port: 'http', scheme: 'HTTPS', headers: [{ name: 'Host', value: 'app.example' }] },
        failureThreshold: 30,
      },
      readiness: { http: { port: 'http' } },
      liveness: { exec: { command: ['true'] }, periodSeconds: 5 },
      restart: { maxAttempts: 0 },
      stop: { signal: 'SIGINT', drainSeconds: 0, onLostContact: 'STOP' },
      serviceDefaults: {
        replicas: 3,
        spread: { mode: 'STRICT' },
        rollout: { maxUnavailable: 1, minReadySeconds: 2 },
        backoff: { baseSeconds: 1 },
      },
    })
    expect(profile).toMatchObject({
      env: [
        { name: 'GREETING', value: 'two\nlines', secret: false },
        { name: 'PASSWORD', value: null, secret: true },
      ],
      workingDirectory: '/srv',
      ports: [
        { name: 'http', port: 8080, protocol: 'TCP' },
        { name: 'dns', port: null, protocol: 'UDP' },
      ],
      startup: {
        http: { scheme: 'HTTPS', headers: [{ name: 'Host', value: 'app.example' }] },
        failureThreshold: 30,
      },
      readiness: {
        http: { port: 'http', path: '/', scheme: 'HTTP', headers: [] },
        tcp: null,
        exec: null,
        initialDelaySeconds: 0,
        periodSeconds: 10,
        timeoutSeconds: 1,
        failureThreshold: 3,
        successThreshold: 1,
      },
      liveness: { http: null, tcp: null, exec: { command: ['true'] }, periodSeconds: 5 },
      restart: { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 600, delaySeconds: 1 },
      stop: { signal: 'INT', drainSeconds: 0, graceSeconds: 10, onLostContact: 'STOP' },
      serviceDefaults: {
        replicas: 3,
        spread: { mode: 'STRICT' },
        rollout: { maxSurge: '0%', maxUnavailable: 1, minReadySeconds: 2 },
        backoff: { baseSeconds: 1 },
      },
    })
  })

  test('limits of a profile with a fixed port (R1): none above by default, and an explicit "none unavailable" is obeyed', async () => {
    const limits = async (rollout: Data) => {
      const { profileRevision: profile } = await applyProfile({
        name: 'fixed',
        command: ['serve'],
        ports: [{ name: 'http', port: 8080 }],
        serviceDefaults: { rollout },
      })
      return [profile.serviceDefaults.rollout.maxSurge, profile.serviceDefaults.rollout.maxUnavailable]
    }
    expect(await limits({})).toEqual(['0%', '25%'])
    expect(await limits({ maxUnavailable: 0 })).toEqual(['25%', 0])
    expect(await limits({ maxSurge: 0 })).toEqual([0, '25%'])
  })

  test('settings that cannot do what they say are warned of, and nothing is refused for it', async () => {
    const warnings = async (mutation: string, input: Data): Promise<string[]> =>
      (await api().data(documentOf(mutation, 'warnings'), { input }))[mutation].warnings
    const careless = { autoRollback: true, watchSeconds: 0 }
    const sentence = expect.stringMatching(/^autoRollback is on, watchSeconds is 0 and there is no readiness probe/)
    const profile = { name: 'careless', command: ['serve'], serviceDefaults: { rollout: careless } }
    expect(await warnings('applyProfile', profile)).toEqual([sentence])
    expect(await warnings('applyProfile', { name: 'careful', command: ['serve'] })).toEqual([])
    expect(await warnings('createService', { name: 'careless', profile: 'careless', replicas: 0 })).toEqual([sentence])
    const update = (rollout: Data) =>
      warnings('updateService', { service: { name: 'careless' }, settings: { rollout } })
    expect(await update({ watchSeconds: 30 })).toEqual([])
    expect(await update({ minReadySeconds: 0, watchSeconds: 0 })).toEqual([
      expect.stringMatching(/^minReadySeconds is 0/),
      sentence,
    ])
  })

  test('the same again makes no revision, another one does', async () => {
    const input = { name: 'twice', command: ['serve'] }
    expect(await applyProfile(input)).toMatchObject({ created: true, profileRevision: { revision: 1 } })
    expect(await applyProfile(input)).toMatchObject({ created: false, profileRevision: { revision: 1 } })
    const changed = await applyProfile({ ...input, serviceDefaults: { replicas: 2 } })
    expect(changed).toMatchObject({
      created: true,
      profileRevision: {
        revision: 2,
        profile: { current: { revision: 2 }, revisions: { nodes: [{ revision: 2 }, { revision: 1 }] } },
      },
    })
  })
})

describe('services', () => {
  test('are created, scaled, killed in parts and deleted', async () => {
    await withProfile(api(), {
      name: 'life',
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ],
    })
    const input = {
      name: 'life',
      profile: 'life',
      replicas: 2,
      command: ['other'],
      env: [{ name: 'C', value: 's', secret: true }],
      unsetEnv: ['A'],
    }
    const { service: created } = await mutate('createService', input)
    expect(created).toMatchObject({
      name: 'life',
      owner: 'alice',
      desiredReplicas: 2,
      activeReplicas: 2,
      version: {
        number: 1,
        origin: 'CREATE',
        command: ['other'],
        env: [
          { name: 'B', value: '2', secret: false },
          { name: 'C', value: null, secret: true },
        ],
        sameContentAs: null,
      },
      rollout: { number: 1, state: 'ROLLING', from: null, to: { number: 1 } },
    })
    expect(created.replicas.nodes).toMatchObject([
      { state: 'PENDING', blocker: { reason: 'NO_HOST' } },
      { state: 'PENDING' },
    ])

    const service = { name: 'life' }
    const { service: scaled } = await mutate('scaleService', { service, replicas: 4 })
    expect(scaled).toMatchObject({ desiredReplicas: 4, activeReplicas: 4 })
    expect(BigInt(scaled.specRevision)).toBeGreaterThan(BigInt(created.specRevision))

    const { replica } = await mutate('killReplica', { replica: { id: scaled.replicas.nodes[0].id } })
    expect(replica).toMatchObject({
      id: scaled.replicas.nodes[0].id,
      state: 'ENDED',
      endReason: 'KILLED',
      service: { activeReplicas: 4, specRevision: scaled.specRevision },
    })
    expect(await mutate('killReplica', { replica: { id: replica.id } })).toMatchObject({
      __typename: 'InvalidStateError',
      path: ['input', 'replica'],
    })
    expect(await mutate('resetBackoff', { service })).toMatchObject({ __typename: 'NoChangeError' })

    const { service: gone } = await mutate('deleteService', { service })
    expect(gone).toMatchObject({
      id: created.id,
      activeReplicas: 0,
      status: 'DELETING',
      deletionRequestedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(
      await api().data(
        '{ service(name: "life") { id } endpoint(service: { name: "life" }) { id } services(filter: { names: ["life"] }) { nodes { id } } }',
      ),
    ).toEqual({
      service: null,
      endpoint: null,
      services: { nodes: [] },
    })
    expect(await mutate('deleteService', { service })).toMatchObject({ __typename: 'NotFoundError' })
    const { service: next } = await mutate('createService', input)
    expect(next.id).not.toBe(created.id)
  })

  test('expectedRevision lets one of two writers through', async () => {
    await withProfile(api())
    await withService(api(), 'race')
    const { service } = await api().data('{ service(name: "race") { specRevision } }')
    const scale = (replicas: number) =>
      mutate('scaleService', { service: { name: 'race' }, replicas, expectedRevision: service.specRevision })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => scale(at + 2)))
    const [won, ...more] = answers.filter(({ __typename }) => __typename === 'ScaleServicePayload')
    expect(more).toEqual([])
    for (const lost of answers.filter((answer) => answer !== won)) {
      expect(lost).toMatchObject({
        __typename: 'ConflictError',
        code: 'CONFLICT',
        path: ['input', 'expectedRevision'],
        specRevision: won.service.specRevision,
      })
    }
  })

  test('64 at once on one service are all answered', async () => {
    await withProfile(api())
    await withService(api(), 'busy')
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, at) => mutate('scaleService', { service: { name: 'busy' }, replicas: at })),
    )
    expect(answers.map(({ __typename }) => __typename)).toEqual(Array(64).fill('ScaleServicePayload'))
    const { service } = await api().data('{ service(name: "busy") { desiredReplicas activeReplicas } }')
    expect(service.activeReplicas).toBe(service.desiredReplicas)
  })

  test('quota: refused only where it could never fit', async () => {
    await api().data('mutation { applyProject(input: { name: "small", maxReplicas: 3 }) { __typename } }')
    await withProfile(api())
    const input = { project: 'small', name: 'big', profile: 'web' }
    const refusal = { __typename: 'QuotaExceededError', code: 'QUOTA_EXCEEDED', limit: 3, requested: 4 }
    expect(await mutate('createService', { ...input, replicas: 4 })).toMatchObject(refusal)
    expect(await mutate('createService', { ...input, replicas: 3 })).toMatchObject({
      __typename: 'CreateServicePayload',
    })
    expect(await mutate('scaleService', { service: { project: 'small', name: 'big' }, replicas: 4 })).toMatchObject(
      refusal,
    )
  })

  test('two mutations of one document: the second sees what it did', async () => {
    await withProfile(api())
    await withService(api(), 'twofold')
    const source = `mutation { one: ${half(3)} two: ${half(5)} }`
    const { one, two } = await api().data(source)
    expect(one.service.replicas.nodes).toHaveLength(3)
    expect(two.service.replicas.nodes).toHaveLength(5)
    expect(BigInt(two.service.endpoint.revision)).toBeGreaterThan(BigInt(one.service.endpoint.revision))
  })

  const half = (replicas: number) =>
    `scaleService(input: { service: { name: "twofold" }, replicas: ${replicas} }) { ... on ScaleServicePayload { service { replicas { nodes { id } } endpoint { revision } } } }`
})

describe('projects and queues', () => {
  test('are made and changed', async () => {
    const project =
      'mutation Apply($input: ApplyProjectInput!) { applyProject(input: $input) { ... on ApplyProjectPayload { project { id name maxReplicas usedReplicas } } } }'
    const made = (await api().data(project, { input: { name: 'team', maxReplicas: 5 } })).applyProject.project
    expect(made).toMatchObject({ name: 'team', maxReplicas: 5, usedReplicas: 0 })
    const changed = (await api().data(project, { input: { name: 'team' } })).applyProject.project
    expect(changed).toEqual({ ...made, maxReplicas: null })
    expect((await api().data('{ project(name: "team") { id } }')).project.id).toBe(made.id)

    const queue =
      'mutation Apply($input: ApplyQueueInput!) { applyQueue(input: $input) { ... on ApplyQueuePayload { queue { id name priority } } } }'
    const first = (await api().data(queue, { input: { name: 'urgent', priority: 10 } })).applyQueue.queue
    expect((await api().data(queue, { input: { name: 'urgent', priority: -3 } })).applyQueue.queue).toEqual({
      ...first,
      priority: -3,
    })
    const names = (await api().data('{ queues { nodes { name } } }')).queues.nodes.map(({ name }: Data) => name)
    expect(names).toEqual(['default', 'urgent'])
  })
})

describe('idempotencyKey (R17)', () => {
  test('the same input gives the same objects as they are now, another one a mismatch', async () => {
    await withProfile(api())
    const input = { name: 'once', profile: 'web', replicas: 1, idempotencyKey: 'k1' }
    const first = await mutate('createService', input)
    expect(first.__typename).toBe('CreateServicePayload')
    await mutate('scaleService', { service: { name: 'once' }, replicas: 2 })
    expect((await mutate('createService', input)).service).toMatchObject({ id: first.service.id, desiredReplicas: 2 })
    expect(await mutate('createService', { ...input, replicas: 3 })).toMatchObject({
      __typename: 'IdempotencyMismatchError',
      code: 'IDEMPOTENCY_MISMATCH',
      message:
        'The idempotencyKey "k1" was used for createService with another input: repeat that input, or take a new key.',
    })
    // Per subject and operation.
    expect(await mutate('createService', input, { subject: 'bob', roles: ['admin'] })).toMatchObject({
      __typename: 'NameTakenError',
    })
    expect(await mutate('deleteService', { service: { name: 'once' }, idempotencyKey: 'k1' })).toMatchObject({
      __typename: 'DeleteServicePayload',
    })
    // Also when what it names is gone.
    expect(await mutate('deleteService', { service: { name: 'once' }, idempotencyKey: 'k1' })).toMatchObject({
      service: { id: first.service.id },
    })
  })

  test('of profiles, projects and queues', async () => {
    const profile = { name: 'keyed', command: ['serve'], idempotencyKey: 'k2' }
    const first = await applyProfile(profile)
    await applyProfile({ name: 'keyed', command: ['other'] })
    expect(await applyProfile(profile)).toMatchObject({
      created: true,
      profileRevision: { id: first.profileRevision.id, revision: 1, profile: { current: { revision: 2 } } },
    })
    const project =
      'mutation { applyProject(input: { name: "keyed", idempotencyKey: "k3" }) { ... on ApplyProjectPayload { project { id } } } }'
    expect(await api().data(project)).toEqual(await api().data(project))
    const queue =
      'mutation { applyQueue(input: { name: "keyed", priority: 1, idempotencyKey: "k4" }) { ... on ApplyQueuePayload { queue { id } } } }'
    expect(await api().data(queue)).toEqual(await api().data(queue))
  })

  test('the hash of an input stays what it is, so that keys outlive an upgrade', async () => {
    await withProfile(api())
    const env = [
      { name: 'B', value: 'ü' },
      { value: 'x', name: 'A' },
    ]
    await mutate('createService', {
      name: 'pinned',
      profile: 'web',
      replicas: 1,
      command: null,
      env,
      idempotencyKey: 'pinned',
    })
    const { inputHash } = await api().app.database.prisma.idempotencyKey.findFirstOrThrow({ where: { key: 'pinned' } })
    expect(inputHash).toBe('69139b8962dd347d8f8267c55c0271bef6ba4ca00f6c531a838b868354b30681')
  })

  test('two at once are one', async () => {
    await withProfile(api())
    const input = { name: 'same', profile: 'web', idempotencyKey: 'k5' }
    const answers = await Promise.all(Array.from({ length: 5 }, () => mutate('createService', input)))
    expect(new Set(answers.map(({ service }) => service?.id)).size).toBe(1)
  })

  test('a refusal is not remembered', async () => {
    const input = { name: 'later', profile: 'later', idempotencyKey: 'k6' }
    expect(await mutate('createService', input)).toMatchObject({ __typename: 'NotFoundError' })
    await withProfile(api(), { name: 'later' })
    expect(await mutate('createService', input)).toMatchObject({ __typename: 'CreateServicePayload' })
  })
})

test('a context is for one request', () => {
  const { app } = api()
  expect(createContext(app, admin).pages).not.toBe(createContext(app, admin).pages)
})
