import { expect, test } from 'vitest'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()
const mutate = async (mutation: string, input: Data, payload = ''): Promise<Data> =>
  (await api().data(documentOf(mutation, payload), { input }))[mutation]

const kinds = [
  ['profile', 'applyProfile', 'deleteProfile', { command: ['serve'] }, 'profiles'],
  ['project', 'applyProject', 'deleteProject', {}, 'projects'],
  ['queue', 'applyQueue', 'deleteQueue', { priority: 1 }, 'queues'],
] as const

test.each(kinds)(
  'a %s that nobody uses is deleted, and applying it brings it back',
  async (one, apply, remove, more, all) => {
    await mutate(apply, { name: 'spare', ...more })
    const { [one]: found } = await api().data(`{ ${one}(name: "spare") { id } }`)
    expect(await mutate(remove, { name: 'spare', cause: 'Tidy.' }, 'deletedId')).toEqual({
      __typename: `${remove.charAt(0).toUpperCase()}${remove.slice(1)}Payload`,
      deletedId: found.id,
    })
    const gone = await api().data(
      `query ($id: ID!) { ${one}(name: "spare") { id } byId: ${one}(id: $id) { id } ${all}(filter: { names: ["spare"] }) { totalCount } events(first: 1) { nodes { message cause } } }`,
      { id: found.id },
    )
    expect(gone).toEqual({
      [one]: null,
      byId: null,
      [all]: { totalCount: 0 },
      events: { nodes: [{ message: `alice deleted ${one} spare.`, cause: 'Tidy.' }] },
    })
    expect(await mutate(remove, { name: 'spare' })).toMatchObject({
      __typename: 'NotFoundError',
      path: ['input', 'name'],
    })
    expect((await mutate(apply, { name: 'spare', ...more })).__typename).toMatch(/Payload$/)
    expect((await api().data(`{ ${one}(name: "spare") { id } }`))[one]).toEqual(found)
  },
)

test.each(kinds)('a %s that services use is not', async (one, apply, remove, more) => {
  const name = `used-${one}`
  await withProfile(api())
  await mutate(apply, { name, ...more })
  for (const at of [1, 2]) await withService(api(), `${one}-${at}`, { replicas: 0, [one]: name })
  const project = one === 'project' ? name : 'default'
  const refused = await mutate(remove, { name })
  expect(refused).toMatchObject({ __typename: 'InvalidStateError', path: ['input', 'name'] })
  expect(refused.message).toContain(
    `is used by services: ${one}-1 of project ${project}, ${one}-2 of project ${project}.`,
  )
  for (const at of [1, 2]) await mutate('deleteService', { service: { name: `${one}-${at}`, project } })
  expect((await mutate(remove, { name })).__typename).toMatch(/Payload$/)
  const refusedNow = await mutate('createService', { name: 'late', profile: 'web', [one]: name })
  expect(refusedNow).toMatchObject({ __typename: 'NotFoundError', path: ['input', one] })
})

test.each(['deleteProject', 'deleteQueue'])('%s does not delete the default', async (remove) => {
  expect(await mutate(remove, { name: 'default' })).toMatchObject({
    __typename: 'InvalidStateError',
    message: expect.stringContaining("can't be deleted"),
  })
})

test('an update does not bring a profile back', async () => {
  await mutate('applyProfile', { name: 'away', command: ['serve'] })
  await mutate('deleteProfile', { name: 'away' })
  expect(await mutate('updateProfile', { name: 'away', cpuMillis: 1 })).toMatchObject({ __typename: 'NotFoundError' })
})
