import { beforeAll, expect, test } from 'vitest'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()
const shown = `overrides { cpuMillis memoryMiB ports { name port } readiness { tcp { port } } restart { mode maxAttempts } stop { signal } }
  settings { spread { mode } rollout { maxSurge maxUnavailable } } ownSettings queue { name } version { number ports { name } }`

const mutate = async (mutation: string, input: Data, payload = `service { ${shown} }`): Promise<Data> =>
  (await api().data(documentOf(mutation, payload), { input }))[mutation]
const update = (service: string, input: Data) => mutate('updateService', { service: { name: service }, ...input })

/** What its replicas run. */
async function content(service: string): Promise<Data> {
  const { prisma } = api().app.database
  const { id, versionNumber: number } = await prisma.service.findFirstOrThrow({ where: { name: service } })
  return (await prisma.serviceVersion.findFirstOrThrow({ where: { serviceId: id, number } })).content
}

const readiness = { tcp: { port: 'http' } }
beforeAll(() => withProfile(api(), { cpuMillis: 200, readiness }))

test('a service has resources, ports, probes and policies of its own, over updates and revisions, until null', async () => {
  const own = {
    cpuMillis: 300,
    ports: [{ name: 'http' }, { name: 'admin' }],
    readiness: { tcp: { port: 'admin' } },
    restart: { mode: 'NEVER' },
    stop: { signal: 'INT' },
  }
  const made = await mutate('createService', { name: 'own', profile: 'web', replicas: 0, ...own })
  expect(made.service.overrides).toEqual({
    cpuMillis: 300,
    memoryMiB: null,
    ports: [
      { name: 'http', port: null },
      { name: 'admin', port: null },
    ],
    readiness: { tcp: { port: 'admin' } },
    restart: { mode: 'NEVER', maxAttempts: 3 },
    stop: { signal: 'INT' },
  })
  expect((await update('own', { memoryMiB: 64 })).service.version.number).toBe(2)
  await withProfile(api(), { cpuMillis: 250, memoryMiB: 32, readiness })
  await update('own', { profileRevision: 2 })
  expect(await content('own')).toMatchObject({
    cpuMillis: 300,
    memoryMiB: 64,
    ports: [{ name: 'http' }, { name: 'admin' }],
    readiness: { action: { kind: 'tcp', port: 'admin' } },
    restart: { mode: 'NEVER' },
    stop: { signal: 'INT' },
  })
  await update('own', { cpuMillis: null, ports: null, readiness: null, restart: null, stop: null, memoryMiB: null })
  expect(await content('own')).toMatchObject({
    cpuMillis: 250,
    memoryMiB: 32,
    ports: [{ name: 'http' }],
    readiness: { action: { port: 'http' } },
    restart: { mode: 'ALWAYS' },
    stop: { signal: 'TERM' },
  })
})

test('a probe of the merged content needs a declared port, and the fault lies in what was given', async () => {
  await withService(api(), 'probed', { replicas: 0 })
  const refused = (path: string[], port: string) => ({
    __typename: 'InvalidInputError',
    issues: [{ path: ['input', ...path], message: expect.stringContaining(`The port "${port}" is not declared`) }],
  })
  expect(await update('probed', { ports: [{ name: 'other' }] })).toMatchObject(refused(['ports'], 'http'))
  const liveness = { http: { port: 'gone' } }
  expect(await update('probed', { liveness })).toMatchObject(refused(['liveness', 'http', 'port'], 'gone'))
  expect(await mutate('createService', { name: 'never', profile: 'web', ports: [{ name: 'other' }] })).toMatchObject(
    refused(['ports'], 'http'),
  )
  expect(await mutate('createService', { name: 'never', profile: 'web', liveness })).toMatchObject(
    refused(['liveness', 'http', 'port'], 'gone'),
  )
})

test('beside a fixed port of its own there is no surge, unless it says so', async () => {
  await withService(api(), 'fixed', { replicas: 0 })
  const ports = [{ name: 'http', port: 9_000 }]
  expect((await update('fixed', { ports })).service.settings.rollout).toEqual({ maxSurge: '0%', maxUnavailable: '25%' })
  const { service } = await update('fixed', { settings: { rollout: { maxSurge: 1 } } })
  expect(service).toMatchObject({ ownSettings: ['rollout.maxSurge'], settings: { rollout: { maxSurge: 1 } } })
})

test('spread and limits of its own last; null goes back to the profile’s, one by one or all', async () => {
  const settings = { spread: { mode: 'STRICT' }, rollout: { maxSurge: 2, maxUnavailable: 1 } }
  await withService(api(), 'settled', { replicas: 0, settings })
  const { service } = await update('settled', { command: ['serve', '2'] })
  expect(service).toMatchObject({ settings, ownSettings: expect.arrayContaining(['spread.mode', 'rollout.maxSurge']) })
  const { service: less } = await update('settled', { settings: { rollout: { maxSurge: null }, spread: null } })
  expect(less).toMatchObject({ settings: { spread: { mode: 'BEST_EFFORT' } }, ownSettings: ['rollout.maxUnavailable'] })
  const { service: none } = await update('settled', { settings: null })
  expect(none).toMatchObject({ ownSettings: [], version: { number: 2 } })
})

test('a service moves to another queue without a rollout', async () => {
  await mutate('applyQueue', { name: 'fast', priority: 9 }, '')
  await withService(api(), 'moved', { replicas: 0 })
  expect((await update('moved', { queue: 'fast' })).service).toMatchObject({
    queue: { name: 'fast' },
    version: { number: 1 },
  })
  expect(await update('moved', { queue: 'fast' })).toMatchObject({ __typename: 'NoChangeError' })
  expect(await update('moved', { queue: 'slow' })).toMatchObject({
    __typename: 'NotFoundError',
    path: ['input', 'queue'],
  })
  const { service } = await api().data('{ service(name: "moved") { events(first: 1) { nodes { message } } } }')
  expect(service.events.nodes).toEqual([{ message: 'alice moved moved to the queue fast.' }])
})
