import { beforeAll, describe, expect, test } from 'vitest'
import { type Data, openApi, withProfile, withService } from '../api.ts'

const api = openApi()
const unknown = 'Service_01890a5d-ac96-774b-bcce-b302099a8057'
let id = ''

beforeAll(async () => {
  await withProfile(api())
  await withService(api(), 'web', { replicas: 3 })
  id = (await api().data('{ service(name: "web") { id } }')).service.id
})

const scale = async (service: Data): Promise<Data> =>
  (
    await api().data(
      `mutation ($service: ServiceReference!) { scaleService(input: { service: $service, replicas: 3 }) {
        __typename ... on InvalidInputError { issues { path message } } ... on NotFoundError { path message }
        ... on ScaleServicePayload { service { name } } } }`,
      { service },
    )
  ).scaleService

describe('a service', () => {
  test('is found by its id, by its name, and by its name and project', async () => {
    for (const reference of [{ id }, { name: 'web' }, { name: 'web', project: 'default' }]) {
      expect(await scale(reference)).toMatchObject({ service: { name: 'web' } })
      const variables = { reference, id: null, name: null, project: null, ...reference }
      const document =
        'query ($reference: ServiceReference!, $id: ID, $name: String, $project: String) { endpoint(service: $reference) { service { name } } service(id: $id, name: $name, project: $project) { name } replicas(filter: { services: [$reference] }) { totalCount } rollouts(filter: { services: [$reference] }) { totalCount } }'
      expect(await api().data(document, variables)).toEqual({
        endpoint: { service: { name: 'web' } },
        service: { name: 'web' },
        replicas: { totalCount: 3 },
        rollouts: { totalCount: 1 },
      })
    }
  })

  test.each([
    [{}, ['input', 'service'], 'Neither id nor name is given'],
    [{ id: unknown, name: 'web' }, ['input', 'service'], 'give one of them'],
    [{ id: 'web' }, ['input', 'service', 'id'], '"web" is no id of this API'],
    [{ id: unknown.replace('Service', 'Event') }, ['input', 'service', 'id'], 'is no id of this API'],
    [{ id: unknown.replace('Service', 'Host') }, ['input', 'service', 'id'], 'is the id of a Host'],
    [{ id: unknown, project: 'default' }, ['input', 'service', 'project'], 'beside an id'],
  ])('%j is refused by its field', async (reference, path, message) => {
    expect(await scale(reference)).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path, message: expect.stringContaining(message) }],
    })
    const { errors } = await api().ask('query ($service: ServiceReference!) { endpoint(service: $service) { id } }', {
      service: reference,
    })
    expect(errors).toMatchObject([{ code: 'BAD_USER_INPUT' }])
  })

  test.each([
    [{ id: unknown }, ['input', 'service', 'id'], 'There is no service with the id'],
    [{ name: 'nobody' }, ['input', 'service', 'name'], 'There is no service "nobody" in project "default"'],
    [{ name: 'web', project: 'other' }, ['input', 'service', 'project'], 'There is no project "other"'],
  ])('%j does not exist', async (reference, path, message) => {
    expect(await scale(reference)).toMatchObject({
      __typename: 'NotFoundError',
      path,
      message: expect.stringContaining(message),
    })
    const document = 'query ($service: ServiceReference!) { endpoint(service: $service) { id } }'
    expect(await api().data(document, { service: reference })).toEqual({ endpoint: null })
  })
})

describe('a replica', () => {
  const kill = async (replica: Data): Promise<Data> =>
    (
      await api().data(
        `mutation ($replica: ReplicaReference!) { killReplica(input: { replica: $replica }) {
          __typename ... on InvalidInputError { issues { path message } } ... on Error { message }
          ... on NotFoundError { path } ... on KillReplicaPayload { replica { id index } } } }`,
        { replica },
      )
    ).killReplica

  test('is found by its service and index, and by its id', async () => {
    const first = await kill({ service: { name: 'web' }, index: 1 })
    expect(first).toMatchObject({ replica: { index: 1 } })
    // The replica that took its place has the index now.
    const second = await kill({ service: { id }, index: 1 })
    expect(second).toMatchObject({ replica: { index: 1 } })
    expect(second.replica.id).not.toBe(first.replica.id)
    expect(await kill({ id: second.replica.id })).toMatchObject({ __typename: 'InvalidStateError' })
  })

  test.each([
    [{}, 'InvalidInputError', 'give its id, or both service and index'],
    [{ index: 0 }, 'InvalidInputError', 'give its id, or both service and index'],
    [{ id: unknown.replace('Service', 'Replica'), index: 0 }, 'InvalidInputError', 'give the id, or service and index'],
    [{ id: unknown }, 'InvalidInputError', 'is the id of a Service'],
    [{ service: { name: 'web' }, index: 99 }, 'NotFoundError', 'Service default/web has no replica 99'],
    [{ service: { name: 'nobody' }, index: 0 }, 'NotFoundError', 'There is no service "nobody"'],
    [{ id: unknown.replace('Service', 'Replica') }, 'NotFoundError', 'There is no replica with the id'],
  ])('%j is refused', async (reference, type, message) => {
    const refused = await kill(reference)
    expect(refused['__typename']).toBe(type)
    expect(JSON.stringify(refused)).toContain(message.replaceAll('"', '\\"'))
  })
})

test.each([
  [{}, 'replica: The replica is not named'],
  [{ service: {}, index: 0 }, 'replica.service: Neither id nor name is given'],
  [{ service: { id: unknown.replace('Service', 'Host') }, index: 0 }, 'replica.service.id: '],
  [{ id: unknown }, 'replica.id: '],
])('the log of a replica that is named by %j is refused by its argument', async (replica, sentence) => {
  const document = 'query ($replica: ReplicaReference!) { replicaLog(replica: $replica) { position } }'
  expect((await api().ask(document, { replica })).errors).toEqual([
    { code: 'BAD_USER_INPUT', message: expect.stringContaining(sentence) },
  ])
})

test('a host and a worker are found by name and by id, and refused alike', async () => {
  const both =
    'query ($id: ID, $name: String) { host(id: $id, name: $name) { id } worker(id: $id, name: $name) { id } }'
  expect((await api().ask(both, {})).errors).toMatchObject([{ code: 'BAD_USER_INPUT' }, { code: 'BAD_USER_INPUT' }])
  expect(await api().data(both, { name: 'nobody' })).toEqual({ host: null, worker: null })
  const cordon = async (host: Data): Promise<Data> =>
    (
      await api().data(
        'mutation ($host: HostReference!) { cordonHost(input: { host: $host }) { __typename ... on Error { message } } }',
        { host },
      )
    ).cordonHost
  expect(await cordon({ id: unknown })).toMatchObject({ __typename: 'InvalidInputError' })
  expect(await cordon({ id: unknown.replace('Service', 'Host') })).toMatchObject({ __typename: 'NotFoundError' })
  expect(await cordon({ name: 'nobody' })).toMatchObject({ __typename: 'NotFoundError' })
})
