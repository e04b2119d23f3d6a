import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/model/id.ts'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()
const own = 'overrides { command env { name value secret } unsetEnv }'

const mutate = async (mutation: string, input: Data, payload: string): Promise<Data> =>
  (await api().data(documentOf(mutation, payload), { input }))[mutation]
const update = (service: string, input: Data) =>
  mutate('updateService', { service: { name: service }, ...input }, `service { ${own} version { number } }`)
const read = async (service: string): Promise<Data> =>
  (await api().data(`query ($name: String!) { service(name: $name) { ${own} } }`, { name: service })).service.overrides

/** What its replicas would get, secrets included. */
async function stored(service: string): Promise<Record<string, string>> {
  const { prisma } = api().app.database
  const { id, versionNumber: number } = await prisma.service.findFirstOrThrow({ where: { name: service } })
  const { content } = await prisma.serviceVersion.findFirstOrThrow({ where: { serviceId: id as ServiceId, number } })
  return Object.fromEntries(content.env.map(({ name, value }) => [name, value]))
}

beforeAll(async () => {
  await withProfile(api(), {
    env: [
      { name: 'A', value: '1' },
      { name: 'KEY', value: 'hidden', secret: true },
    ],
  })
})

test('single variables are set and unset, and the others stay', async () => {
  await withService(api(), 'single', { replicas: 0, env: [{ name: 'OWN', value: 'x', secret: true }] })
  await update('single', { setEnv: [{ name: 'spring.config', value: 'y' }], unsetEnv: ['A'] })
  expect(await stored('single')).toEqual({ KEY: 'hidden', OWN: 'x', 'spring.config': 'y' })
  expect(await read('single')).toEqual({
    command: null,
    env: [
      { name: 'OWN', value: null, secret: true },
      { name: 'spring.config', value: 'y', secret: false },
    ],
    unsetEnv: ['A'],
  })
  await update('single', { unsetEnv: ['OWN'] })
  expect(await stored('single')).toEqual({ KEY: 'hidden', 'spring.config': 'y' })
  await update('single', { env: null })
  expect(await stored('single')).toEqual({ A: '1', KEY: 'hidden' })
})

test('a service keeps a secret that is sent back, and its profile’s too', async () => {
  await withService(api(), 'kept', { replicas: 0, env: [{ name: 'OWN', value: 'x', secret: true }] })
  const env = [...(await read('kept')).env, { name: 'NEW', value: '2' }]
  await update('kept', { env })
  expect(await stored('kept')).toEqual({ A: '1', KEY: 'hidden', OWN: 'x', NEW: '2' })
  await update('kept', { setEnv: [{ name: 'KEY', value: null, secret: true }] })
  expect((await stored('kept'))['KEY']).toBe('hidden')
})

test('a profile keeps a secret that is sent back', async () => {
  const fields = 'profileRevision { revision env { name value secret } }'
  const input = { name: 'keeper', command: ['x'], env: [{ name: 'KEY', value: 's', secret: true }] }
  const { profileRevision: profile } = await mutate('applyProfile', input, fields)
  const again = await mutate('applyProfile', { ...input, env: profile.env }, `created ${fields}`)
  expect(again).toMatchObject({ created: false, profileRevision: { revision: 1 } })
  const other = await mutate('applyProfile', { ...input, command: ['y'], env: profile.env }, `created ${fields}`)
  expect(other).toMatchObject({ created: true })
  const { prisma } = api().app.database
  const { content } = await prisma.profileRevision.findFirstOrThrow({
    where: { profile: { name: 'keeper' }, revision: 2 },
  })
  expect(content.env).toEqual([{ name: 'KEY', value: 's', secret: true }])
})

test.each([
  [
    'updateService',
    { env: [{ name: 'NOT', value: null, secret: true }] },
    ['env', '0', 'value'],
    'there is no secret of this name',
  ],
  [
    'updateService',
    { setEnv: [{ name: 'A', value: null, secret: true }] },
    ['setEnv', '0', 'value'],
    'there is no secret of this name',
  ],
  ['updateService', { env: [{ name: 'KEY', value: null }] }, ['env', '0', 'value'], 'has no value'],
  ['updateService', { env: [], setEnv: [] }, ['setEnv'], 'together with env'],
  [
    'updateService',
    { setEnv: [{ name: 'A', value: '' }], unsetEnv: ['A'] },
    ['unsetEnv', '0'],
    'is in setEnv and in unsetEnv',
  ],
  ['updateService', { unsetEnv: ['A', 'A'] }, ['unsetEnv', '1'], 'given twice'],
  ['updateService', { unsetEnv: ['1A'] }, ['unsetEnv', '0'], 'no name of a variable'],
  [
    'createService',
    { env: [{ name: 'NOT', value: null, secret: true }] },
    ['env', '0', 'value'],
    'there is no secret of this name',
  ],
  [
    'applyProfile',
    { env: [{ name: 'NOT', value: null, secret: true }] },
    ['env', '0', 'value'],
    'there is no secret of this name',
  ],
])('%s of %j is refused', async (mutation, input, path, sentence) => {
  if (mutation === 'updateService') await withService(api(), 'bad', { replicas: 0 }).catch(() => undefined)
  const named = {
    updateService: { service: { name: 'bad' } },
    createService: { name: 'worse', profile: 'web' },
    applyProfile: { name: 'web', command: ['serve'] },
  }[mutation]
  expect(await mutate(mutation, { ...named, ...input }, '')).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: ['input', ...path], message: expect.stringContaining(sentence) }],
  })
})

test('two changes of single variables at once lose nothing', async () => {
  await withService(api(), 'both', { replicas: 0 })
  const names = Array.from({ length: 8 }, (_, at) => `V${at}`)
  await Promise.all(names.map((name) => update('both', { setEnv: [{ name, value: name }] })))
  expect(Object.keys(await stored('both')).sort()).toEqual(['A', 'KEY', ...names].sort())
})

test('what was read and is sent back changes nothing', async () => {
  const name = fc.constantFrom('A', 'KEY', 'C', 'D.e', '_F')
  const part = fc.record({
    env: fc.uniqueArray(fc.record({ name, value: fc.string({ maxLength: 4 }), secret: fc.boolean() }), {
      selector: (variable) => variable.name,
    }),
    unset: fc.uniqueArray(name),
    command: fc.option(fc.constant(['other'])),
  })
  let number = 0
  await fc.assert(
    fc.asyncProperty(part, async ({ env, unset, command }) => {
      const service = `back-${++number}`
      const unsetEnv = unset.filter((hidden) => !env.some((variable) => variable.name === hidden))
      const given = env.map((variable) => ({ ...variable, value: variable.value.replaceAll('\0', '') }))
      await withService(api(), service, { replicas: 0, env: given, unsetEnv, command })
      const before = await stored(service)
      const answer = await update(service, await read(service))
      expect(answer.__typename).toBe('NoChangeError')
      expect(await stored(service)).toEqual(before)
    }),
    { numRuns: 15 },
  )
})
