import { beforeAll, describe, expect, test } from 'vitest'
import type { Viewer } from '../../../src/graphql/kit/context.ts'
import type { AllocatedPort } from '../../../src/model/content.ts'
import type { ServiceId } from '../../../src/model/id.ts'
import { place } from '../../../src/rules/placement/placement.ts'
import { readPlacement } from '../../../src/store/read/readPlacement.ts'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

// A preview on a real database beside what really happens then. Placement and the worker are driven by hand, so that nothing happens in between.

const api = openApi()
const worker: Viewer = { subject: 'worker-1', roles: ['worker'] }
let registered: Data
let sequence = 0

const plan = `... on RolloutPlan { watchSeconds warnings steps { atSeconds starts stops active ready available } lowestAvailable highestActive durationSeconds finished
  blocker { reason message objects { ... on Replica { index } ... on Project { name } } } }`
const errors = `... on Error { code message } ... on InvalidInputError { issues { path message } } ... on NotFoundError { path } ... on NoChangeError { path }`
const document = `query ($input: UpdateServiceInput!, $ready: Int! = 10) { previewUpdate(input: $input, readyAfterSeconds: $ready) { __typename ${plan} ${errors} } }`

const preview = async (input: Data, ready?: number): Promise<Data> =>
  (await api().data(document, ready === undefined ? { input } : { input, ready })).previewUpdate

const mutate = async (mutation: string, input: Data, viewer?: Viewer): Promise<Data> => {
  const answer = (await api().data(documentOf(mutation), { input }, viewer))[mutation]
  expect(answer.code).toBeUndefined()
  return answer
}

beforeAll(async () => {
  const input = {
    ...{ name: 'worker-1', host: 'node1', addresses: ['10.0.0.1'], cpuMillis: 64_000, memoryMiB: 65_536 },
    ...{
      portRange: { from: 20_000, to: 20_999 },
      softwareVersion: '1',
      protocolVersion: 1,
      stateDirectoryId: 'of worker-1',
      registrationNumber: 1,
      running: [],
    },
  }
  registered = (await api().worker.data(documentOf('registerWorker', 'worker epoch'), { input }, worker)).registerWorker
  await withProfile(api(), { readiness: { tcp: { port: 'http' } } })
})

/** One run of placement. */
async function placeAll(): Promise<void> {
  const { app } = api()
  const { grants } = place({ ...(await readPlacement(app.database)), now: app.clock.now() })
  const services = new Set(grants.map(({ serviceId }) => serviceId))
  for (const id of services) {
    await app.committer.submit(id, { kind: 'grant', grants: grants.filter(({ serviceId }) => serviceId === id) })
  }
}

const rowsOf = (serviceId: string) => api().app.database.prisma.replica.findMany({ where: { serviceId } })

/** Whatever is stopping ends; then whatever runs is ready. Each in one report. */
async function endStopped(serviceId: string): Promise<void> {
  const stopping = (await rowsOf(serviceId)).filter(({ state }) => state === 'STOPPING')
  await report(
    stopping.map(({ id, start, ports }) => ({
      replica: `Replica_${id}`,
      start,
      state: 'ENDED',
      ready: false,
      endReason: 'STOPPED',
      exitCode: 0,
      ports: numbersOf(ports),
    })),
  )
}

async function becomeReady(serviceId: string): Promise<void> {
  const starting = (await rowsOf(serviceId)).filter(({ state }) => state === 'STARTING')
  await report(
    starting.map(({ id, start, ports }) => ({
      replica: `Replica_${id}`,
      start,
      state: 'RUNNING',
      ready: true,
      ports: numbersOf(ports),
    })),
  )
}

const numbersOf = (ports: unknown) => (ports as readonly AllocatedPort[]).map(({ port }) => port)

async function report(reports: Data[]): Promise<void> {
  if (reports.length === 0) return
  const input = { worker: registered.worker, epoch: registered.epoch, sequence: ++sequence, reports }
  await api().worker.data(documentOf('reportReplicas'), { input }, worker)
}

/** A service whose replicas are all ready. Its bare id. */
async function readyService(name: string, replicas: number): Promise<ServiceId> {
  const id = (await withService(api(), name, { replicas })).slice('Service_'.length) as ServiceId
  await placeAll()
  await becomeReady(id)
  return id
}

/** What has come and what was stopped since `known`, and the counts now. */
async function stepSince(id: string, known: Map<string, string>) {
  const rows = await rowsOf(id)
  const isStopped = (state: string | undefined) => state === 'STOPPING' || state === 'ENDED'
  const numbers = (of: readonly { index: number }[]) => of.map(({ index }) => index).sort((a, b) => a - b)
  const starts = numbers(rows.filter((row) => !known.has(row.id)))
  const stops = numbers(
    rows.filter((row) => isStopped(row.state) && known.has(row.id) && !isStopped(known.get(row.id))),
  )
  for (const row of rows) known.set(row.id, row.state)
  const {
    activeReplicas: active,
    readyReplicas: ready,
    availableReplicas: available,
  } = await api().app.database.prisma.service.findUniqueOrThrow({ where: { id } })
  return { starts, stops, active, ready, available }
}

describe('a preview is what then happens', () => {
  test.each([
    ['one', 1, {}],
    ['three', 3, {}],
    ['ten', 10, {}],
    ['tight', 4, { settings: { rollout: { maxSurge: 0, maxUnavailable: 1 } } }],
    ['grown', 4, { replicas: 7 }],
    ['shrunk', 7, { replicas: 3 }],
  ])('%s', async (name, replicas, over) => {
    const id = await readyService(name, replicas)
    const input = { service: { name }, command: ['serve', 'two'], ...over }
    const told = await preview(input)
    expect(told).toMatchObject({ __typename: 'RolloutPlan', finished: true, blocker: null })

    const known = new Map((await rowsOf(id)).map((row) => [row.id, row.state as string]))
    await mutate('updateService', input)
    const steps: Data[] = [{ atSeconds: 0, ...(await stepSince(id, known)) }]
    for (let atSeconds = 10; atSeconds <= told.durationSeconds; atSeconds += 10) {
      await placeAll()
      await endStopped(id)
      await becomeReady(id)
      steps.push({ atSeconds, ...(await stepSince(id, known)) })
    }
    expect(told.steps).toEqual(steps)
    const { rollouts } = (
      await api().data('query ($name: String!) { service(name: $name) { rollouts(first: 1) { nodes { state } } } }', {
        name,
      })
    ).service
    expect(rollouts.nodes).toEqual([{ state: 'COMPLETED' }])
  })
})

test('a preview changes nothing', async () => {
  const { app } = api()
  const id = await readyService('still', 4)
  const state = async () => ({
    feed: await app.database.prisma.feed.findMany(),
    service: await app.database.prisma.service.findUnique({ where: { id } }),
    replicas: await app.database.prisma.replica.findMany({ orderBy: { id: 'asc' } }),
    versions: await app.database.prisma.serviceVersion.count(),
    rollouts: await app.database.prisma.rollout.count(),
    events: await app.database.prisma.event.count(),
    ports: await app.database.prisma.hostPort.count(),
    projects: await app.database.prisma.project.findMany(),
    hosts: await app.database.prisma.host.findMany(),
    keys: await app.database.prisma.idempotencyKey.count(),
  })
  const before = await state()
  const input = { service: { name: 'still' }, command: ['serve', 'two'], replicas: 9, idempotencyKey: 'preview' }
  expect((await preview(input)).finished).toBe(true)
  expect(await state()).toEqual(before)
})

test('the seconds until ready are the caller’s, and the stopped ones of another update count as they are', async () => {
  const id = await readyService('half', 4)
  expect(await preview({ service: { name: 'half' }, command: ['serve', 'two'] }, 60)).toMatchObject({
    durationSeconds: 120,
  })
  expect(await preview({ service: { name: 'half' }, command: ['serve', 'two'] }, 0)).toMatchObject({
    durationSeconds: 0,
    highestActive: 5,
  })
  await mutate('updateService', { service: { name: 'half' }, command: ['serve', 'two'] })
  await placeAll()
  // Half way there, back to what it ran before: the three old ones are kept.
  const back = await preview({ service: { name: 'half' }, command: null })
  expect(back).toMatchObject({ finished: true, lowestAvailable: 3 })
  expect(back.steps[0]).toMatchObject({ atSeconds: 0, starts: expect.any(Array) })
  expect(new Set((await rowsOf(id)).map(({ versionNumber }) => versionNumber))).toEqual(new Set([1, 2]))
})

test('a preview tells of the watch that would follow, and of settings that cannot do what they say', async () => {
  await readyService('watched', 2)
  const input = (rollout: Data) => ({ service: { name: 'watched' }, command: ['serve', 'two'], settings: { rollout } })
  expect(await preview(input({}))).toMatchObject({ watchSeconds: 0, warnings: [] })
  expect(await preview(input({ autoRollback: true, watchSeconds: 90 }))).toMatchObject({
    finished: true,
    watchSeconds: 90,
    warnings: [],
  })
  expect(await preview(input({ watchSeconds: 90 }))).toMatchObject({
    watchSeconds: 0,
    warnings: [expect.stringMatching(/^watchSeconds is 90 and autoRollback is off/)],
  })
})

test('what does not finish says why', async () => {
  await readyService('quota', 3)
  await mutate('applyProject', { name: 'default', maxReplicas: await usedReplicas() })
  const input = { service: { name: 'quota' }, command: ['serve', 'two'] }
  const told = await preview(input)
  expect(told).toMatchObject({
    finished: false,
    durationSeconds: null,
    lowestAvailable: 3,
    highestActive: 4,
    blocker: { reason: 'QUOTA', objects: [{ name: 'default' }] },
  })
  await mutate('applyProject', { name: 'default', maxReplicas: null })
  expect(await preview(input)).toMatchObject({ finished: true, durationSeconds: 30 })
  expect(await preview({ ...input, startPaused: true })).toMatchObject({
    finished: false,
    steps: [],
    blocker: { reason: 'ROLLOUT_PAUSED' },
  })
})

const usedReplicas = async () =>
  (await api().app.database.prisma.project.findFirstOrThrow({ where: { name: 'default' } })).usedReplicas

describe('what is refused is data', () => {
  beforeAll(async () => {
    await readyService('refused', 2)
  })

  test.each([
    ['nothing of it differs', {}, { __typename: 'NoChangeError', code: 'NO_CHANGE', path: ['input'] }],
    [
      'an unknown service',
      { service: { name: 'nobody' } },
      { __typename: 'NotFoundError', path: ['input', 'service', 'name'] },
    ],
    [
      'an unknown project',
      { service: { project: 'none', name: 'refused' } },
      { __typename: 'NotFoundError', path: ['input', 'service', 'project'] },
    ],
    [
      'an unknown revision',
      { profileRevision: 9 },
      { __typename: 'NotFoundError', path: ['input', 'profileRevision'] },
    ],
    [
      'too many replicas',
      { replicas: 50_001 },
      { __typename: 'InvalidInputError', issues: [{ path: ['input', 'replicas'] }] },
    ],
    [
      'an empty command',
      { command: [] },
      { __typename: 'InvalidInputError', issues: [{ path: ['input', 'command'] }] },
    ],
    [
      'an old revision',
      { replicas: 3, expectedRevision: '1' },
      { __typename: 'InvalidInputError', issues: [{ path: ['input', 'expectedRevision'] }] },
    ],
    [
      'a deadline too short',
      { settings: { rollout: { minReadySeconds: 700 } } },
      { __typename: 'InvalidInputError', issues: [{ path: ['input', 'settings', 'rollout', 'minReadySeconds'] }] },
    ],
  ])('%s', async (_name, over, answer) => {
    expect(await preview({ service: { name: 'refused' }, ...over })).toMatchObject(answer)
  })

  test.each([-1, 86_401])('%s seconds until ready', async (ready) => {
    expect(await preview({ service: { name: 'refused' }, replicas: 3 }, ready)).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['readyAfterSeconds'], message: expect.stringContaining(`${ready} is out of range`) }],
    })
  })

  test('more than the quota could ever hold, and a service that is being deleted', async () => {
    await mutate('applyProject', { name: 'default', maxReplicas: 100 })
    expect(await preview({ service: { name: 'refused' }, replicas: 101 })).toMatchObject({
      issues: [{ path: ['input', 'replicas'] }],
    })
    await mutate('deleteService', { service: { name: 'refused' } })
    expect(await preview({ service: { name: 'refused' }, replicas: 3 })).toMatchObject({
      issues: [{ path: ['input', 'service'] }],
    })
  })

  test('no token, and a worker’s', async () => {
    const variables = { input: { service: { name: 'refused' }, replicas: 3 } }
    expect((await api().ask(document, variables, null)).errors.map(({ code }) => code)).toEqual(['UNAUTHENTICATED'])
    expect((await api().data(document, variables, worker)).previewUpdate).toMatchObject({
      __typename: 'ForbiddenError',
      code: 'FORBIDDEN',
    })
  })
})
