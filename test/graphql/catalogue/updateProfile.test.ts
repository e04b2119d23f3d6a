import { expect, test } from 'vitest'
import { type Data, documentOf, openApi, withService } from '../api.ts'

const api = openApi()
const answer =
  'created changes { field before after } services { totalCount nodes { name } } profile { name } profileRevision { revision command cpuMillis env { name value secret } ports { name } serviceDefaults { replicas rollout { maxSurge } } }'

const mutate = async (mutation: string, input: Data, payload = answer): Promise<Data> =>
  (await api().data(documentOf(mutation, payload), { input }))[mutation]
const apply = (name: string, input: Data = {}) => mutate('applyProfile', { name, command: ['serve'], ...input })
const update = (name: string, input: Data) => mutate('updateProfile', { name, ...input })

test('an update changes what is given, null goes back to the default, and the rest stays', async () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'KEY', value: 's', secret: true },
  ]
  const serviceDefaults = { replicas: 3, rollout: { maxSurge: 2 } }
  await apply('part', { cpuMillis: 300, env, ports: [{ name: 'http' }], serviceDefaults })
  const changed = await update('part', { command: ['serve', '2'], cpuMillis: null })
  expect(changed).toMatchObject({
    created: true,
    changes: [
      { field: 'command', before: '["serve"]', after: '["serve","2"]' },
      { field: 'cpuMillis', before: '300', after: '100' },
    ],
    profileRevision: { revision: 2, cpuMillis: 100, ports: [{ name: 'http' }], serviceDefaults },
  })
  const { env: shown } = changed.profileRevision
  expect(await update('part', { env: shown })).toMatchObject({ created: false, changes: [] })
  const settled = await update('part', { serviceDefaults: { rollout: { maxSurge: null } } })
  expect(settled.changes).toEqual([{ field: 'serviceDefaults.rollout.maxSurge', before: '2', after: '25%' }])
  expect(settled.profileRevision.serviceDefaults.replicas).toBe(3)
})

test('what an update makes of the whole is judged, at the field that was given', async () => {
  await apply('judged', { ports: [{ name: 'http' }], readiness: { tcp: { port: 'http' } } })
  expect(await update('judged', { ports: [{ name: 'web' }] })).toMatchObject({
    issues: [{ path: ['input', 'ports'], message: expect.stringContaining('The port "http" is not declared') }],
  })
  expect(await update('judged', { env: [{ name: 'PORT', value: '1' }] })).toMatchObject({
    issues: [{ path: ['input', 'env', '0', 'name'], message: expect.stringContaining('set by the system') }],
  })
  expect(
    await update('judged', { serviceDefaults: { rollout: { progressDeadlineSeconds: 1, minReadySeconds: 5 } } }),
  ).toMatchObject({
    issues: [{ path: ['input', 'serviceDefaults', 'rollout', 'progressDeadlineSeconds'] }],
  })
  expect(await update('missing', { cpuMillis: 1 })).toMatchObject({
    __typename: 'NotFoundError',
    path: ['input', 'name'],
  })
})

test('two updates at once lose nothing, and an expected revision lets one through', async () => {
  await apply('raced')
  const labels = [{ key: 'team', value: 'search' }]
  await Promise.all([
    update('raced', { cpuMillis: 400 }),
    update('raced', { labels }),
    update('raced', { memoryMiB: 64 }),
    update('raced', { description: 'It races.' }),
  ])
  const { profile } = await api().data(
    '{ profile(name: "raced") { description labels { key value } current { revision cpuMillis memoryMiB } } }',
  )
  expect(profile).toEqual({
    description: 'It races.',
    labels,
    current: { revision: 3, cpuMillis: 400, memoryMiB: 64 },
  })
  const both = await Promise.all([1, 2].map((cpuMillis) => update('raced', { cpuMillis, expectedRevision: 3 })))
  expect(both.map(({ __typename }) => __typename).sort()).toEqual(['InvalidStateError', 'UpdateProfilePayload'])
})

test('ports and probes that services use are dropped only when that is told', async () => {
  const whole = { ports: [{ name: 'http' }, { name: 'admin' }], readiness: { tcp: { port: 'http' } } }
  await apply('used', whole)
  expect(await apply('used', { ports: [{ name: 'http' }] })).toMatchObject({ created: true })
  await apply('used', whole)
  for (const at of [1, 2, 3, 4, 5, 6]) await withService(api(), `user-${at}`, { profile: 'used', replicas: 0 })
  const refused = await apply('used', { ports: [{ name: 'http' }] })
  expect(refused).toMatchObject({ __typename: 'InvalidStateError', path: ['input', 'ports'] })
  expect(refused.message).toBe(
    'Profile used would drop port "admin" and the readiness probe, and services use the profile: user-1 of project default, user-2 of project default, user-3 of project default, user-4 of project default, user-5 of project default and 1 more. Give allowDropping: true to drop them all the same; the services keep their revision until they are updated.',
  )
  expect(await update('used', { readiness: null })).toMatchObject({
    __typename: 'InvalidStateError',
    path: ['input', 'readiness'],
  })
  const told = await update('used', { readiness: null, ports: [{ name: 'http' }], allowDropping: true })
  expect(told).toMatchObject({ created: true, services: { totalCount: 6 }, profile: { name: 'used' } })
  const { services } = await api().data('{ services(filter: { profiles: ["used"] }) { totalCount } }')
  expect(services.totalCount).toBe(6)
})

test('an update takes the newest revision when it is told, and says that there is one when it is not', async () => {
  await apply('newer')
  await withService(api(), 'behind', { profile: 'newer', replicas: 0 })
  await apply('newer', { cpuMillis: 222 })
  const service = { name: 'behind' }
  const fields = 'service { profileRevision { revision } }'
  const idle = await mutate('updateService', { service }, fields)
  expect(idle).toMatchObject({ __typename: 'NoChangeError' })
  expect(idle.message).toContain(
    'It runs revision 1 of profile newer, and the newest one is 2: give latestProfile: true to take it.',
  )
  const taken = await mutate('updateService', { service, latestProfile: true }, fields)
  expect(taken.service.profileRevision.revision).toBe(2)
  expect((await mutate('updateService', { service, latestProfile: true }, fields)).message).not.toContain(
    'latestProfile',
  )
  expect(await mutate('updateService', { service, latestProfile: true, profileRevision: 1 }, fields)).toMatchObject({
    issues: [{ path: ['input', 'latestProfile'] }],
  })
})

test('what is noted about a profile makes no revision, and an update keeps what it does not name', async () => {
  const noted =
    'created profile { labels { key value } annotations { key value } description } profileRevision { revision }'
  const labels = [{ key: 'team', value: 'search' }]
  const input = {
    name: 'noted',
    command: ['serve'],
    labels,
    annotations: [{ key: 'wiki', value: 'x' }],
    description: 'It serves.',
  }
  const first = await mutate('applyProfile', input, noted)
  expect(first).toMatchObject({ created: true, profile: { labels, description: 'It serves.' } })
  const other = await mutate('updateProfile', { name: 'noted', description: 'It serves well.' }, noted)
  expect(other).toMatchObject({
    created: false,
    profile: { labels, description: 'It serves well.' },
    profileRevision: { revision: 1 },
  })
  const both = await mutate('updateProfile', { name: 'noted', cpuMillis: 7, labels: null }, noted)
  expect(both).toMatchObject({
    created: true,
    profile: { labels: [], description: 'It serves well.' },
    profileRevision: { revision: 2 },
  })
  const again = await mutate('applyProfile', { name: 'noted', command: ['serve'], cpuMillis: 7 }, noted)
  expect(again).toMatchObject({ created: false, profile: { labels: [], annotations: [], description: null } })
  const { events } = await api().data('{ events(first: 1) { nodes { message } } }')
  expect(events.nodes).toEqual([{ message: 'alice changed the annotations and description of profile noted.' }])
  expect(await mutate('updateProfile', { name: 'noted', labels: [{ key: '', value: '' }] }, noted)).toMatchObject({
    issues: [{ path: ['input', 'labels', '0', 'key'] }],
  })
})
