import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type Data, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()
const noted = 'service { labels { key value } annotations { key value } description version { number } specRevision }'
const mutate = async (mutation: string, input: Data, payload = noted): Promise<Data> =>
  (await api().data(documentOf(mutation, payload), { input }))[mutation]
const update = (name: string, input: Data) => mutate('updateService', { service: { name }, ...input })
beforeAll(() => withProfile(api()))

test('what is noted is read back, changed without a rollout, and cleared by null', async () => {
  const labels = [
    { key: 'team', value: 'search' },
    { key: 'example.com/tier', value: '' },
  ]
  const annotations = [{ key: 'wiki', value: 'https://wiki/ü' }]
  const input = { name: 'noted', profile: 'web', replicas: 0, labels, annotations, description: 'The shop.' }
  const { service } = await mutate('createService', input)
  expect(service).toMatchObject({ labels: labels.toReversed(), annotations, description: 'The shop.' })
  expect(await update('noted', { labels, annotations, description: 'The shop.' })).toMatchObject({
    __typename: 'NoChangeError',
  })
  const changed = await update('noted', { labels: [], annotations: null })
  expect(changed.service).toMatchObject({
    labels: [],
    annotations: [],
    description: 'The shop.',
    version: { number: 1 },
  })
  expect(BigInt(changed.service.specRevision)).toBeGreaterThan(BigInt(service.specRevision))
  const { service: seen } = await api().data('{ service(name: "noted") { events(first: 1) { nodes { message } } } }')
  expect(seen.events.nodes).toEqual([{ message: 'alice changed the labels and annotations of noted.' }])
})

test.each([
  [{ labels: [{ key: 'a b', value: '' }] }, ['labels', '0', 'key'], 'no name of a label'],
  [{ labels: [{ key: 'a', value: 'a b' }] }, ['labels', '0', 'value'], 'no value of a label'],
  [
    {
      labels: [
        { key: 'a', value: '1' },
        { key: 'a', value: '2' },
      ],
    },
    ['labels', '1', 'key'],
    'given twice',
  ],
  [{ labels: Array.from({ length: 65 }, (_, at) => ({ key: `k${at}`, value: '' })) }, ['labels'], 'at most 64'],
  [{ annotations: [{ key: 'a', value: 'x'.repeat(65_536) }] }, ['annotations'], '65537 bytes: at most 65536'],
  [{ description: 'x'.repeat(1_025) }, ['description'], '1025 characters: at most 1024'],
])('%# is refused at its field', async (input, path, sentence) => {
  await withService(api(), 'bad', { replicas: 0 }).catch(() => undefined)
  expect(await update('bad', input)).toMatchObject({
    issues: [{ path: ['input', ...path], message: expect.stringContaining(sentence) }],
  })
})

test('lists are filtered by labels, as the selectors say', async () => {
  const given: Record<string, Record<string, string>> = {
    none: {},
    one: { app: 'a' },
    two: { app: 'b', tier: 'x' },
    three: { app: 'a', tier: '' },
  }
  for (const [name, labels] of Object.entries(given)) {
    const pairs = Object.entries(labels).map(([key, value]) => ({ key, value }))
    await withService(api(), `l-${name}`, { replicas: 0, labels: pairs })
  }
  const selector = fc.record(
    { key: fc.constantFrom('app', 'tier', 'other'), values: fc.uniqueArray(fc.constantFrom('a', 'b', 'x', '')) },
    { requiredKeys: ['key'] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(selector, { maxLength: 2 }), async (labels) => {
      const filter = { nameStartsWith: 'l-', labels }
      const { services } = await api().data(
        'query ($filter: ServiceFilter) { services(filter: $filter) { nodes { name } } }',
        { filter },
      )
      const expected = Object.entries(given).filter(([, own]) =>
        labels.every(
          ({ key, values }) =>
            own[key] !== undefined && (values === undefined || values.some((value) => value === own[key])),
        ),
      )
      expect(services.nodes.map(({ name }: Data) => name).sort()).toEqual(expected.map(([name]) => `l-${name}`).sort())
    }),
    { numRuns: 25 },
  )
})
