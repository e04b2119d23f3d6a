import { beforeAll, expect, test } from 'vitest'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()
const mutate = async (mutation: string, input: Data, payload = ''): Promise<Data> =>
  (await api().data(documentOf(mutation, payload), { input }))[mutation]
const service = { name: 'why' }
beforeAll(() => withProfile(api()))

test('why a change was made is shown in the version and in the events that the user caused', async () => {
  await withService(api(), 'why', { replicas: 1, cause: 'The shop opens.' })
  await mutate('updateService', { service, command: ['serve', '2'], cause: 'It leaked memory.' })
  await mutate('scaleService', { service, replicas: 2 })
  await mutate('restartService', { service, cause: 'The certificate is new.' })
  const { service: seen } = await api().data(
    '{ service(name: "why") { versions { nodes { number origin cause } } events(first: 50) { nodes { message actor cause } } } }',
  )
  expect(seen.versions.nodes).toEqual([
    { number: 3, origin: 'RESTART', cause: 'The certificate is new.' },
    { number: 2, origin: 'UPDATE', cause: 'It leaked memory.' },
    { number: 1, origin: 'CREATE', cause: 'The shop opens.' },
  ])
  const causes = (actor: boolean) =>
    new Set(
      seen.events.nodes.filter((event: Data) => (event.actor === 'alice') === actor).map(({ cause }: Data) => cause),
    )
  expect(causes(true)).toEqual(new Set(['The shop opens.', 'It leaked memory.', null, 'The certificate is new.']))
  expect(causes(false)).toEqual(new Set([null]))
})

test('changes of the catalogue tell it, too', async () => {
  await mutate('applyProject', { name: 'told', cause: 'A new team.' })
  await mutate('applyProfile', { name: 'told', command: ['x'], cause: 'A new program.' })
  await mutate('applyQueue', { name: 'told', priority: 1, cause: 'Night work.' })
  const { events } = await api().data('{ events(first: 3) { nodes { message cause } } }')
  expect(events.nodes.map(({ cause }: Data) => cause)).toEqual(['Night work.', 'A new program.', 'A new team.'])
})

test('it has a bound, and is a part of the wish that a key names', async () => {
  expect(await mutate('scaleService', { service, replicas: 3, cause: 'x'.repeat(257) })).toMatchObject({
    issues: [{ path: ['input', 'cause'], message: 'The cause has 257 characters: at most 256 are allowed.' }],
  })
  const keyed = { service, replicas: 5, idempotencyKey: 'why' }
  await mutate('scaleService', { ...keyed, cause: 'one' })
  expect((await mutate('scaleService', { ...keyed, cause: 'one' })).__typename).toBe('ScaleServicePayload')
  expect((await mutate('scaleService', { ...keyed, cause: 'two' })).__typename).toBe('IdempotencyMismatchError')
})
