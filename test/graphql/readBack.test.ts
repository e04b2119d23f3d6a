import fc from 'fast-check'
import { getNamedType, isInputObjectType, isObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../../src/graphql/schema.ts'
import { type Data, documentOf, openApi } from './api.ts'

// What was read and is sent back changes nothing: each input that writes an object has its fields' names and shapes from what
// shows the object, so a client needs to know one shape only.

const api = openApi()

/** Fields that are no part of what is written: they say how, or by which name. */
const notRead = new Set([
  'idempotencyKey',
  'cause',
  'expectedRevision',
  'service',
  'startPaused',
  'allowDropping',
  'latestProfile',
  'profileRevision',
  'setEnv',
  'replicas',
])

/** The selection of all that an input of this type can write. Fails for a field that is not shown under its name. */
function selectionOf(writes: string, shows: string, besides: readonly string[] = []): string {
  const [input, output] = [schema.getType(writes), schema.getType(shows)]
  if (!isInputObjectType(input) || !isObjectType(output)) throw new Error('There is no such type.')
  const shown = output.getFields()
  const written = Object.values(input.getFields()).filter(({ name }) => !besides.includes(name))
  const parts = written.flatMap(({ name, type }) => {
    const field = shown[name]
    if (field === undefined) {
      if (notRead.has(name)) return []
      throw new Error(`${writes}.${name} is not shown by ${shows}.`)
    }
    const [of, read] = [getNamedType(type), getNamedType(field.type)]
    if (isInputObjectType(of)) return [`${name} { ${selectionOf(`${of}`, `${read}`)} }`]
    expect([name, `${of}`]).toEqual([name, `${read}`])
    return [name]
  })
  return parts.join(' ')
}

const profileShown = selectionOf('ApplyProfileInput', 'ProfileRevision', [
  'name',
  'labels',
  'annotations',
  'description',
])

const mutate = async (mutation: string, input: Data, payload: string): Promise<Data> =>
  (await api().data(documentOf(mutation, payload), { input }))[mutation]

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const seconds = (min: number, max: number) => optional(fc.integer({ min, max }))
const action = fc.oneof(
  fc.record({
    http: fc.record(
      {
        port: fc.constant('http'),
        path: fc.constantFrom('/', '/health?x=1'),
        scheme: fc.constantFrom('HTTP', 'HTTPS'),
        headers: fc.constantFrom([], [{ name: 'X-Probe', value: 'yes' }]),
      },
      { requiredKeys: ['port'] },
    ),
  }),
  fc.record({ tcp: fc.constant({ port: 'http' }) }),
  fc.record({ exec: fc.constant({ command: ['true', ''] }) }),
)
const probe = fc
  .tuple(
    action,
    fc.record({ initialDelaySeconds: seconds(0, 9), periodSeconds: seconds(1, 9), failureThreshold: seconds(1, 3) }),
  )
  .map(([does, times]) => ({ ...does, ...times }))
const parts = fc.record({
  workingDirectory: optional(fc.constantFrom('/srv', 'data')),
  cpuMillis: optional(fc.integer({ min: 1, max: 4_000 })),
  memoryMiB: optional(fc.integer({ min: 1, max: 4_000 })),
  startup: optional(probe),
  readiness: optional(probe),
  liveness: optional(probe),
  restart: optional(fc.record({ mode: fc.constantFrom('ALWAYS', 'ON_FAILURE', 'NEVER'), maxAttempts: seconds(0, 9) })),
  stop: optional(
    fc.record({ signal: fc.constantFrom('INT', 'SIGTERM'), onLostContact: fc.constantFrom('KEEP', 'STOP') }),
  ),
})
const ports = fc.constantFrom(
  [{ name: 'http' }],
  [{ name: 'http', port: 8_080 }],
  [{ name: 'dns', protocol: 'UDP' }, { name: 'http' }],
)
const env = fc.uniqueArray(
  fc.record({ name: fc.constantFrom('A', 'B', 'c.d'), value: fc.constantFrom('', 'ü', '1'), secret: fc.boolean() }),
  { selector: ({ name }) => name },
)
const limit = fc.oneof(
  fc.integer({ min: 0, max: 9 }),
  fc.integer({ min: 0, max: 100 }).map((percent) => `${percent}%`),
)
const settings = fc.record({
  spread: optional(fc.record({ mode: fc.constantFrom('NONE', 'BEST_EFFORT', 'STRICT'), maxPerHost: seconds(1, 3) })),
  rollout: optional(
    fc.record({ maxSurge: optional(limit), minReadySeconds: seconds(0, 9), autoRollback: optional(fc.boolean()) }),
  ),
  backoff: optional(fc.record({ baseSeconds: seconds(0, 9), resetAfterSeconds: seconds(1, 9) })),
})

let number = 0
const profileInput = fc.record({ parts, ports, env, settings, replicas: seconds(0, 3) })
const withName = ({ parts, ports, env, settings, replicas }: Data): Data => ({
  name: `p${++number}`,
  command: ['serve', ''],
  ports,
  env,
  ...parts,
  serviceDefaults: { ...settings, replicas },
})

test('a profile', async () => {
  await fc.assert(
    fc.asyncProperty(profileInput, async (given) => {
      const input = withName(given)
      const first = await mutate('applyProfile', input, `profileRevision { ${profileShown} }`)
      expect(first.__typename).toBe('ApplyProfilePayload')
      const again = await mutate(
        'applyProfile',
        { ...first.profileRevision, name: input.name },
        `created profileRevision { ${profileShown} }`,
      )
      expect(again).toMatchObject({ created: false, profileRevision: first.profileRevision })
    }),
    { numRuns: 15 },
  )
})

test('a service, with all that it has of its own', async () => {
  const noted = ['labels', 'annotations', 'description']
  const update = schema.getType('UpdateServiceInput')
  const besidesNoted = isInputObjectType(update)
    ? Object.keys(update.getFields()).filter((name) => !noted.includes(name))
    : []
  const shown = `overrides { ${selectionOf('UpdateServiceInput', 'ServiceOverrides', ['settings', 'queue', ...noted])} }
    ${selectionOf('UpdateServiceInput', 'Service', besidesNoted)}
    settings { ${selectionOf('ServiceSettingsInput', 'ServiceSettings')} } ownSettings version { number }`
  await fc.assert(
    fc.asyncProperty(profileInput, fc.record({ parts, env, settings }), async (given, own) => {
      const profile = withName(given)
      await mutate('applyProfile', profile, '')
      const input = {
        name: profile.name,
        profile: profile.name,
        replicas: 0,
        ...own.parts,
        env: own.env,
        settings: own.settings,
        labels: [{ key: 'a', value: '1' }],
        annotations: [{ key: 'b', value: 'ü' }],
        description: 'x',
      }
      const { service: before, ...made } = await mutate('createService', input, `service { ${shown} }`)
      expect(made.__typename).toBe('CreateServicePayload')
      const { overrides, settings, labels, annotations, description } = before
      const sent = { ...overrides, settings, labels, annotations, description }
      const answer = await mutate('updateService', { service: { name: profile.name }, ...sent }, '')
      expect(answer).toMatchObject({ __typename: 'NoChangeError' })
      const { service } = await api().data(`query ($name: String!) { service(name: $name) { ${shown} } }`, {
        name: profile.name,
      })
      expect(service).toEqual(before)
    }),
    { numRuns: 15 },
  )
})

test('a project and a queue', async () => {
  const project = selectionOf('ApplyProjectInput', 'Project')
  const queue = selectionOf('ApplyQueueInput', 'Queue')
  const first = await mutate('applyProject', { name: 'back', maxReplicas: 7 }, `project { ${project} }`)
  expect((await mutate('applyProject', first.project, `project { ${project} }`)).project).toEqual(first.project)
  const made = await mutate('applyQueue', { name: 'back', priority: -3 }, `queue { ${queue} }`)
  expect((await mutate('applyQueue', made.queue, `queue { ${queue} }`)).queue).toEqual(made.queue)
})
