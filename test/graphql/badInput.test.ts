import { beforeAll, describe, expect, test } from 'vitest'
import { documentOf, openApi, selectionOf, withProfile, withService } from './api.ts'

// Bad input is answered as data (or, where GraphQL itself refuses, as a top-level error) and changes nothing: after each case the fact log
// stands where it stood and every table has as many rows as before.

const api = openApi()

beforeAll(async () => {
  await withProfile(api())
  await withService(api(), 'api')
})

let counting: string

beforeAll(async () => {
  const tables = await api().app.database.prisma.$queryRaw<
    { name: string }[]
  >`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`
  const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::text AS rows FROM "${name}"`)
  counting = `${counts.join(' UNION ALL ')} UNION ALL SELECT 'head', head::text FROM "Feed" ORDER BY 1`
})

/** The head of the fact log and the number of rows of every table. */
async function state(): Promise<unknown> {
  return api().app.database.prisma.$queryRawUnsafe(counting)
}

async function unchanged<T>(act: () => Promise<T>): Promise<T> {
  const before = await state()
  const answer = await act()
  expect(await state()).toEqual(before)
  return answer
}

const badNames = {
  'an empty name': ['', 'empty'],
  '51 characters': ['a'.repeat(51), '51 characters: at most 50'],
  'upper case': ['Api', 'not a DNS label'],
  'a trailing dash': ['api-', 'not a DNS label'],
  'a leading space': [' api', 'not a DNS label'],
  'an underscore': ['a_b', 'not a DNS label'],
  'full width': ['ａpi', 'not a DNS label'],
  'a zero-width space': ['api\u200b', 'not a DNS label'],
  NUL: ['a\0pi', 'not a DNS label'],
  'é composed': ['caf\u00e9', 'not a DNS label'],
  'é decomposed': ['cafe\u0301', 'not a DNS label'],
  'a line break': ['api\n', 'not a DNS label'],
} as const

describe.each(Object.entries(badNames))('a name of %s', (_what, [name, sentence]) => {
  test.each([
    ['createService', { profile: 'web' }],
    ['applyProfile', { command: ['serve'] }],
    ['applyProject', {}],
    ['applyQueue', { priority: 1 }],
  ])('is refused by %s', async (mutation, input) => {
    const data = await unchanged(() => api().data(documentOf(mutation), { input: { ...input, name } }))
    expect(data[mutation]).toMatchObject({
      __typename: 'InvalidInputError',
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'name'], message: expect.stringContaining(sentence) }],
    })
  })
})

type Case = readonly [what: string, input: Record<string, unknown>, path: readonly string[], sentence: string]

async function refused(mutation: string, input: Record<string, unknown>, path: readonly string[], sentence: string) {
  const document = documentOf(mutation).replace('issues { path message }', 'issues { path message value bound }')
  const data = await unchanged(() => api().data(document, { input }))
  expect(data[mutation]).toMatchObject({ __typename: 'InvalidInputError', code: 'INVALID_INPUT' })
  const { issues } = data[mutation]
  expect(issues).toMatchObject([{ path: ['input', ...path], message: expect.stringContaining(sentence) }])
  expect(issues).toHaveLength(1)
  const [{ message, value, bound }] = issues
  // A bound that was passed is told beside the sentence, and so is the value, unless it may be a secret.
  if (/out of range|: at most/.test(message)) expect(bound).toMatch(/\d/)
  const maySecret = path.some((part) => part === 'env' || part === 'setEnv') && path.at(-1) !== 'name'
  if (maySecret) expect(value).toBeNull()
  const given = path.reduce<unknown>((of, part) => (of as Record<string, unknown> | undefined)?.[part], input)
  if (typeof given === 'number' || (typeof given === 'string' && given.length < 200 && !maySecret))
    expect(value).toBe(`${given}`)
}

const port = (over: Record<string, unknown>) => ({ ports: [{ name: 'http', ...over }] })
const probe = (over: Record<string, unknown>) => ({ ...port({}), readiness: { http: { port: 'http' }, ...over } })
const rollout = (over: Record<string, unknown>) => ({ serviceDefaults: { rollout: over } })
const long = 'x'.repeat(40_000)

const profiles: readonly Case[] = [
  ['an empty command', { command: [] }, ['command'], 'The command is empty'],
  ['a command without a program', { command: [''] }, ['command', '0'], "program's name is empty"],
  ['a word with NUL', { command: ['serve', 'a\0'] }, ['command', '1'], 'NUL'],
  ['257 words', { command: Array(257).fill('x') }, ['command'], '257 words: at most 256'],
  ['a command of 80,000 bytes', { command: [long, long] }, ['command'], '80000 bytes: at most 65536'],
  ['port 0', port({ port: 0 }), ['ports', '0', 'port'], '0 is out of range: ports are 1 to 65535'],
  ['port 65536', port({ port: 65_536 }), ['ports', '0', 'port'], '65536 is out of range'],
  ['port -1', port({ port: -1 }), ['ports', '0', 'port'], '-1 is out of range'],
  [
    'two ports of one name',
    { ports: [{ name: 'http' }, { name: 'http' }] },
    ['ports', '1', 'name'],
    '"http" is declared twice',
  ],
  ['a port PATH', port({ name: 'PATH' }), ['ports', '0', 'name'], '"PATH" is not a DNS label'],
  ['a port LD_PRELOAD', port({ name: 'LD_PRELOAD' }), ['ports', '0', 'name'], '"LD_PRELOAD" is not a DNS label'],
  ['a port a=b', port({ name: 'a=b' }), ['ports', '0', 'name'], '"a=b" is not a DNS label'],
  ['a port of 16 characters', port({ name: 'a'.repeat(16) }), ['ports', '0', 'name'], '16 characters: at most 15'],
  [
    'one fixed port twice',
    {
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 80 },
      ],
    },
    ['ports', '1', 'port'],
    '80/TCP is declared twice',
  ],
  [
    '17 ports',
    { ports: Array.from({ length: 17 }, (_, at) => ({ name: `p${at}` })) },
    ['ports'],
    '17 ports: at most 16',
  ],
  [
    'a variable name with =',
    { env: [{ name: 'A=B', value: '1' }] },
    ['env', '0', 'name'],
    '"A=B" is no name of a variable',
  ],
  ['an empty variable name', { env: [{ name: '', value: '1' }] }, ['env', '0', 'name'], '"" is no name of a variable'],
  [
    'a variable name with a line break',
    { env: [{ name: 'A\n', value: '1' }] },
    ['env', '0', 'name'],
    'no name of a variable',
  ],
  ['a reserved variable', { env: [{ name: 'XCE_SERVICE', value: '1' }] }, ['env', '0', 'name'], 'reserved'],
  [
    'PORT with one port',
    { ...port({}), env: [{ name: 'PORT', value: '1' }] },
    ['env', '0', 'name'],
    '"PORT" is set by the system',
  ],
  ['a value with NUL', { env: [{ name: 'A', value: 'a\0b' }] }, ['env', '0', 'value'], 'NUL'],
  [
    'a value with half of a character',
    { env: [{ name: 'A', value: 'a\ud83d' }] },
    ['env', '0', 'value'],
    'half of a character',
  ],
  ['a word with half of a character', { command: ['serve', '\ude00'] }, ['command', '1'], 'half of a character'],
  [
    'a value of 40,000 bytes',
    { env: [{ name: 'A', value: long }] },
    ['env', '0', 'value'],
    '40000 bytes: at most 32768',
  ],
  ['a variable without a value', { env: [{ name: 'A', value: null }] }, ['env', '0', 'value'], 'has no value'],
  [
    'a variable twice',
    {
      env: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    },
    ['env', '1', 'name'],
    'given twice',
  ],
  ['an empty directory', { workingDirectory: '' }, ['workingDirectory'], 'is empty'],
  ['a directory that leaves', { workingDirectory: '../..' }, ['workingDirectory'], 'has ".." in it'],
  ['a directory that leaves and is back', { workingDirectory: 'a/../b' }, ['workingDirectory'], 'has ".." in it'],
  ['a long directory', { workingDirectory: 'a'.repeat(1_025) }, ['workingDirectory'], 'at most 1024 are allowed'],
  ['a relative directory with NUL', { workingDirectory: 'srv\0' }, ['workingDirectory'], 'NUL'],
  ['a directory with NUL', { workingDirectory: '/srv\0' }, ['workingDirectory'], 'NUL'],
  ['no CPU', { cpuMillis: 0 }, ['cpuMillis'], '0 is out of range: thousandths of a core are 1 to 1024000'],
  ['negative memory', { memoryMiB: -1 }, ['memoryMiB'], '-1 is out of range: MiB of memory are 1 to'],
  ['a probe of no kind', { readiness: { periodSeconds: 1 } }, ['readiness'], 'none of http, tcp and exec'],
  ['a probe of two kinds', probe({ tcp: { port: 'http' } }), ['readiness'], 'http and tcp of http, tcp and exec'],
  [
    'a probe of an undeclared port',
    { liveness: { tcp: { port: 'db' } } },
    ['liveness', 'tcp', 'port'],
    '"db" is not declared: declared are none',
  ],
  [
    'a probe of a UDP port',
    { ...port({ protocol: 'UDP' }), readiness: { tcp: { port: 'http' } } },
    ['readiness', 'tcp', 'port'],
    'a UDP port',
  ],
  [
    'a probe with an empty command',
    { readiness: { exec: { command: [] } } },
    ['readiness', 'exec', 'command'],
    'The command is empty',
  ],
  [
    'a probe of a relative path',
    probe({ http: { port: 'http', path: 'health' } }),
    ['readiness', 'http', 'path'],
    'does not begin with "/"',
  ],
  [
    'a probe of a path that is not encoded',
    probe({ http: { port: 'http', path: '/日' } }),
    ['readiness', 'http', 'path'],
    'percent-encode it',
  ],
  [
    'a probe of a path with a blank',
    probe({ http: { port: 'http', path: '/a b' } }),
    ['readiness', 'http', 'path'],
    'contains a blank',
  ],
  [
    'a probe with a header without a name',
    probe({ http: { port: 'http', headers: [{ name: '', value: 'a' }] } }),
    ['readiness', 'http', 'headers', '0', 'name'],
    'name of the header is empty',
  ],
  [
    'a probe with an odd name of a header',
    probe({ http: { port: 'http', headers: [{ name: 'X Probe', value: 'a' }] } }),
    ['readiness', 'http', 'headers', '0', 'name'],
    '"X Probe" contains " "',
  ],
  [
    'a probe with a header of its own',
    probe({ http: { port: 'http', headers: [{ name: 'content-length', value: '5' }] } }),
    ['readiness', 'http', 'headers', '0', 'name'],
    '"content-length" is set by the probe',
  ],
  [
    'a probe with two hosts',
    probe({
      http: {
        port: 'http',
        headers: [
          { name: 'Host', value: 'a' },
          { name: 'host', value: 'b' },
        ],
      },
    }),
    ['readiness', 'http', 'headers', '1'],
    '"Host" is given twice',
  ],
  [
    'a probe with a line break in a header',
    probe({ http: { port: 'http', headers: [{ name: 'A', value: 'b\r\nC: d' }] } }),
    ['readiness', 'http', 'headers', '0', 'value'],
    'contains "\\r"',
  ],
  [
    'a probe with 17 headers',
    probe({ http: { port: 'http', headers: Array(17).fill({ name: 'A', value: 'b' }) } }),
    ['readiness', 'http', 'headers'],
    '17 headers: at most 16',
  ],
  [
    'a probe with large headers',
    probe({ http: { port: 'http', headers: [{ name: 'A', value: 'b'.repeat(4_096) }] } }),
    ['readiness', 'http', 'headers'],
    '4097 bytes: at most 4096',
  ],
  [
    'a startup probe of an undeclared port',
    { startup: { tcp: { port: 'db' } } },
    ['startup', 'tcp', 'port'],
    '"db" is not declared',
  ],
  [
    'a startup probe of two successes',
    { startup: { exec: { command: ['true'] }, successThreshold: 2 } },
    ['startup', 'successThreshold'],
    "2 successes in a row can't be asked for",
  ],
  [
    'a liveness probe of two successes',
    { liveness: { exec: { command: ['true'] }, successThreshold: 2 } },
    ['liveness', 'successThreshold'],
    "2 successes in a row can't be asked for",
  ],
  [
    'a period of 0',
    probe({ periodSeconds: 0 }),
    ['readiness', 'periodSeconds'],
    '0 is out of range: the seconds between two probes are 1 to 3600',
  ],
  ['a timeout of 0', probe({ timeoutSeconds: 0 }), ['readiness', 'timeoutSeconds'], '0 is out of range'],
  ['a threshold of 0', probe({ failureThreshold: 0 }), ['readiness', 'failureThreshold'], '0 is out of range'],
  ['a negative delay', probe({ initialDelaySeconds: -1 }), ['readiness', 'initialDelaySeconds'], '-1 is out of range'],
  ['negative restarts', { restart: { maxAttempts: -1 } }, ['restart', 'maxAttempts'], '-1 is out of range'],
  ['a window of 0', { restart: { windowSeconds: 0 } }, ['restart', 'windowSeconds'], '0 is out of range'],
  ['an unknown signal', { stop: { signal: 'BANG' } }, ['stop', 'signal'], '"BANG" is no signal'],
  ['a negative drain', { stop: { drainSeconds: -1 } }, ['stop', 'drainSeconds'], '-1 is out of range'],
  [
    '-1 replicas',
    { serviceDefaults: { replicas: -1 } },
    ['serviceDefaults', 'replicas'],
    '-1 is out of range: replicas are 0 to 50000',
  ],
  [
    '0 per host',
    { serviceDefaults: { spread: { mode: 'STRICT', maxPerHost: 0 } } },
    ['serviceDefaults', 'spread', 'maxPerHost'],
    '0 is out of range',
  ],
  ['limits 0 and 0', rollout({ maxSurge: 0, maxUnavailable: '0%' }), ['serviceDefaults', 'rollout'], 'both 0'],
  [
    '-5 percent',
    rollout({ maxSurge: '-5%' }),
    ['serviceDefaults', 'rollout', 'maxSurge'],
    '-5% is out of range: limits are 0 to 50000, or 0% to 100%',
  ],
  [
    '101 percent',
    rollout({ maxUnavailable: '101%' }),
    ['serviceDefaults', 'rollout', 'maxUnavailable'],
    '101% is out of range',
  ],
  [
    'a deadline not after min-ready',
    rollout({ minReadySeconds: 60, progressDeadlineSeconds: 60 }),
    ['serviceDefaults', 'rollout', 'progressDeadlineSeconds'],
    'must be the longer one',
  ],
  [
    'a deadline within the default min-ready without a probe',
    rollout({ progressDeadlineSeconds: 5 }),
    ['serviceDefaults', 'rollout', 'progressDeadlineSeconds'],
    'progressDeadlineSeconds would be 5 and minReadySeconds 5',
  ],
  [
    'a watch of more than a day',
    rollout({ watchSeconds: 86_401 }),
    ['serviceDefaults', 'rollout', 'watchSeconds'],
    '86401 is out of range: the seconds of the watch are 0 to 86400',
  ],
  [
    'min-ready beyond the default deadline',
    rollout({ minReadySeconds: 600 }),
    ['serviceDefaults', 'rollout', 'minReadySeconds'],
    'must be the longer one',
  ],
  [
    'a backoff that falls',
    { serviceDefaults: { backoff: { baseSeconds: 400 } } },
    ['serviceDefaults', 'backoff', 'baseSeconds'],
    'may not be shorter',
  ],
  [
    'a reset after 0',
    { serviceDefaults: { backoff: { resetAfterSeconds: 0 } } },
    ['serviceDefaults', 'backoff', 'resetAfterSeconds'],
    '0 is out of range',
  ],
  ['an empty key', { idempotencyKey: '' }, ['idempotencyKey'], '0 characters: give 1 to 128'],
  ['a key with NUL', { idempotencyKey: 'a\0' }, ['idempotencyKey'], 'NUL'],
]

test.each(profiles)('applyProfile refuses %s', async (_what, input, path, sentence) => {
  await refused('applyProfile', { name: 'bad', command: ['serve'], ...input }, path, sentence)
})

const services: readonly Case[] = [
  ['-1 replicas', { replicas: -1 }, ['replicas'], '-1 is out of range: replicas are 0 to 50000'],
  ['50001 replicas', { replicas: 50_001 }, ['replicas'], '50001 is out of range'],
  ['2147483647 replicas', { replicas: 2_147_483_647 }, ['replicas'], '2147483647 is out of range'],
  ['an empty command', { command: [] }, ['command'], 'The command is empty'],
  ['a variable name with =', { env: [{ name: 'A=B', value: '' }] }, ['env', '0', 'name'], 'no name of a variable'],
  ['a value with NUL', { env: [{ name: 'A', value: '\0' }] }, ['env', '0', 'value'], 'NUL'],
  [
    'PORT beside a profile with one port',
    { env: [{ name: 'PORT', value: '1' }] },
    ['env', '0', 'name'],
    '"PORT" is set by the system',
  ],
]

test.each(services)('createService refuses %s', async (_what, input, path, sentence) => {
  await refused('createService', { name: 'bad', profile: 'web', ...input }, path, sentence)
})

test.each([-1, 50_001, 2_147_483_647])('scaleService refuses %i replicas', async (replicas) => {
  await refused(
    'scaleService',
    { service: { name: 'api' }, replicas },
    ['replicas'],
    `${replicas} is out of range: replicas are 0 to 50000`,
  )
})

const ofRollout = (over: Record<string, unknown>) => ({ settings: { rollout: over } })
const updates: readonly Case[] = [
  ['-1 replicas', { replicas: -1 }, ['replicas'], '-1 is out of range: replicas are 0 to 50000'],
  ['50001 replicas', { replicas: 50_001 }, ['replicas'], '50001 is out of range'],
  ['an empty command', { command: [] }, ['command'], 'The command is empty'],
  [
    'a variable twice',
    {
      env: [
        { name: 'A', value: '' },
        { name: 'A', value: '' },
      ],
    },
    ['env', '1', 'name'],
    'given twice',
  ],
  [
    'PORT beside a profile with one port',
    { env: [{ name: 'PORT', value: '1' }] },
    ['env', '0', 'name'],
    '"PORT" is set by the system',
  ],
  [
    '-5 percent',
    ofRollout({ maxSurge: '-5%' }),
    ['settings', 'rollout', 'maxSurge'],
    '-5% is out of range: limits are 0 to 50000, or 0% to 100%',
  ],
  [
    '101 percent',
    ofRollout({ maxUnavailable: '101%' }),
    ['settings', 'rollout', 'maxUnavailable'],
    '101% is out of range',
  ],
  ['a negative count', ofRollout({ maxSurge: -1 }), ['settings', 'rollout', 'maxSurge'], '-1 is out of range'],
  ['limits 0 and 0', ofRollout({ maxSurge: 0, maxUnavailable: '0%' }), ['settings', 'rollout'], 'both 0'],
  [
    'a deadline not after min-ready',
    ofRollout({ minReadySeconds: 60, progressDeadlineSeconds: 60 }),
    ['settings', 'rollout', 'progressDeadlineSeconds'],
    'must be the longer one',
  ],
  [
    "min-ready beyond the profile's deadline",
    ofRollout({ minReadySeconds: 600 }),
    ['settings', 'rollout', 'minReadySeconds'],
    'must be the longer one',
  ],
  [
    "a deadline within the service's min-ready",
    { service: { name: 'slow' }, ...ofRollout({ progressDeadlineSeconds: 30 }) },
    ['settings', 'rollout', 'progressDeadlineSeconds'],
    'progressDeadlineSeconds would be 30 and minReadySeconds 60',
  ],
  [
    "a surge of 0 beside the service's none unavailable",
    { service: { name: 'slow' }, ...ofRollout({ maxSurge: 0 }) },
    ['settings', 'rollout', 'maxSurge'],
    'would both be 0',
  ],
  ['a negative watch', ofRollout({ watchSeconds: -1 }), ['settings', 'rollout', 'watchSeconds'], '-1 is out of range'],
  [
    'a negative deadline',
    ofRollout({ progressDeadlineSeconds: -1 }),
    ['settings', 'rollout', 'progressDeadlineSeconds'],
    '-1 is out of range',
  ],
]

describe('updateService', () => {
  beforeAll(async () => {
    await withProfile(api(), {
      name: 'slow',
      serviceDefaults: { rollout: { minReadySeconds: 60, maxUnavailable: 0 } },
    })
    await withService(api(), 'slow', { profile: 'slow' })
  })

  test.each(updates)('refuses %s', async (_what, input, path, sentence) => {
    await refused('updateService', { service: { name: 'api' }, ...input }, path, sentence)
  })
})

test.each([-1, 1_000_000_001])('applyProject refuses %i replicas', async (maxReplicas) => {
  await refused('applyProject', { name: 'bad', maxReplicas }, ['maxReplicas'], `${maxReplicas} is out of range`)
})

test.each([-1_000_001, 1_000_001])('applyQueue refuses a priority of %i', async (priority) => {
  await refused('applyQueue', { name: 'bad', priority }, ['priority'], `${priority} is out of range`)
})

test('everything that is wrong is said at once', async () => {
  const input = {
    name: 'Bad',
    command: [],
    env: [{ name: '=', value: '\0' }],
    ports: [{ name: 'PATH', port: 0 }],
    liveness: { tcp: { port: 'db' }, periodSeconds: 0 },
    serviceDefaults: { replicas: -1, rollout: { maxSurge: 0, maxUnavailable: 0 } },
  }
  const { applyProfile } = await unchanged(() => api().data(documentOf('applyProfile'), { input }))
  expect(applyProfile.issues.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual([
    'input.command',
    'input.env.0.name',
    'input.env.0.value',
    'input.liveness.periodSeconds',
    'input.liveness.tcp.port',
    'input.name',
    'input.ports.0.name',
    'input.ports.0.port',
    'input.serviceDefaults.replicas',
    'input.serviceDefaults.rollout',
  ])
})

const unknown = 'Replica_01890a5d-ac96-774b-bcce-b302099a8057'

test.each([
  ['createService', { name: 'new', profile: 'nothing' }, ['profile'], 'There is no profile "nothing"'],
  ['createService', { name: 'new', profile: 'a\0' }, ['profile'], 'There is no profile'],
  [
    'createService',
    { name: 'new', profile: 'web', profileRevision: 7 },
    ['profileRevision'],
    'no revision 7: it has 1 to 1',
  ],
  ['createService', { name: 'new', profile: 'web', profileRevision: -1 }, ['profileRevision'], 'no revision -1'],
  [
    'createService',
    { name: 'new', profile: 'web', project: 'nothing' },
    ['project'],
    'There is no project "nothing": make it with applyProject.',
  ],
  ['createService', { name: 'new', profile: 'web', queue: 'nothing' }, ['queue'], 'There is no queue "nothing"'],
  [
    'scaleService',
    { service: { name: 'nothing' }, replicas: 1 },
    ['service', 'name'],
    'There is no service "nothing" in project "default": make it with createService.',
  ],
  [
    'scaleService',
    { service: { project: 'nothing', name: 'api' }, replicas: 1 },
    ['service', 'project'],
    'There is no project "nothing": make it with applyProject.',
  ],
  ['resetBackoff', { service: { name: 'nothing' } }, ['service', 'name'], 'There is no service "nothing"'],
  ['deleteService', { service: { name: 'nothing\0' } }, ['service', 'name'], 'There is no service'],
  ['updateService', { service: { name: 'nothing' } }, ['service', 'name'], 'There is no service "nothing"'],
  [
    'updateService',
    { service: { name: 'api' }, profileRevision: 7 },
    ['profileRevision'],
    'no revision 7: it has 1 to 1',
  ],
  ['updateService', { service: { name: 'api' }, profileRevision: 0 }, ['profileRevision'], 'no revision 0'],
  ['restartService', { service: { name: 'nothing' } }, ['service', 'name'], 'There is no service "nothing"'],
  ['pauseRollout', { service: { name: 'nothing' } }, ['service', 'name'], 'There is no service "nothing"'],
  ['resumeRollout', { service: { name: 'nothing' } }, ['service', 'name'], 'There is no service "nothing"'],
  ['rollbackService', { service: { name: 'nothing' } }, ['service', 'name'], 'There is no service "nothing"'],
  ['rollbackService', { service: { name: 'api' }, toVersion: 2 }, ['toVersion'], 'has no version 2: its newest is 1'],
  ['killReplica', { replica: { id: unknown } }, ['replica', 'id'], `There is no replica with the id "${unknown}"`],
  ['requeueReplica', { replica: { id: unknown } }, ['replica', 'id'], `There is no replica with the id "${unknown}"`],
])('%s of %j is NotFoundError', async (mutation, input, path, sentence) => {
  const data = await unchanged(() => api().data(documentOf(mutation), { input }))
  expect(data[mutation]).toEqual({
    __typename: 'NotFoundError',
    code: 'NOT_FOUND',
    message: expect.stringContaining(sentence),
    path: ['input', ...path],
  })
})

test('a name that is held is NameTakenError', async () => {
  const data = await unchanged(() =>
    api().data(documentOf('createService'), { input: { name: 'api', profile: 'web' } }),
  )
  expect(data.createService).toMatchObject({
    __typename: 'NameTakenError',
    code: 'NAME_TAKEN',
    path: ['input', 'name'],
  })
})

test.each([
  ['updateService', {}, 'NoChangeError', ['input'], 'runs this already, as version 1'],
  ['updateService', { command: ['serve'] }, 'NoChangeError', ['input'], 'runs this already'],
  ['rollbackService', {}, 'InvalidStateError', ['input', 'service'], 'it has one version only'],
  ['rollbackService', { toVersion: 1 }, 'NoChangeError', ['input', 'toVersion'], 'is at version 1 already'],
  ['resumeRollout', {}, 'InvalidStateError', ['input', 'service'], 'is not paused'],
  [
    'pauseRollout',
    { expectedRevision: '0' },
    'ConflictError',
    ['input', 'expectedRevision'],
    'was changed since revision 0',
  ],
  [
    'restartService',
    { expectedRevision: '0' },
    'ConflictError',
    ['input', 'expectedRevision'],
    'was changed since revision 0',
  ],
])('%s of %j is %s', async (mutation, input, __typename, path, sentence) => {
  const data = await unchanged(() =>
    api().data(documentOf(mutation), { input: { service: { name: 'api' }, ...input } }),
  )
  expect(data[mutation]).toMatchObject({ __typename, path, message: expect.stringContaining(sentence) })
})

test.each(['1.5', '4294967295', '"3"'])(
  'replicas: %s is a top-level error, written in the document or as a variable',
  async (replicas) => {
    const inline = `mutation { scaleService(input: { service: { name: "api" }, replicas: ${replicas} }) ${selectionOf('ScaleService')} }`
    expect(await unchanged(() => api().ask(inline))).toMatchObject({
      data: null,
      errors: [{ message: expect.stringContaining('Int') }],
    })
    const input = { service: { name: 'api' }, replicas: JSON.parse(replicas) }
    expect(await unchanged(() => api().ask(documentOf('scaleService'), { input }))).toMatchObject({
      data: null,
      errors: [{ message: expect.stringContaining('Int') }],
    })
  },
)

test.each(['{ count: 1 }', '"3"', '"2.5%"', '"%"', '2.5', 'true'])(
  'maxSurge: %s is a top-level error',
  async (limit) => {
    const document = `mutation { applyProfile(input: { name: "bad", command: ["x"], serviceDefaults: { rollout: { maxSurge: ${limit} } } }) ${selectionOf('ApplyProfile')} }`
    const { data, errors } = await unchanged(() => api().ask(document))
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ message: expect.stringContaining('is neither a number nor a percentage') }])
  },
)

test.each(['"x"', '"-1"', '"1.0"', '"99999999999999999999"', '""'])(
  'expectedRevision: %s is a top-level error',
  async (revision) => {
    const document = `mutation { scaleService(input: { service: { name: "api" }, replicas: 1, expectedRevision: ${revision} }) ${selectionOf('ScaleService')} }`
    const { data, errors } = await unchanged(() => api().ask(document))
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ message: expect.stringContaining('no revision') }])
  },
)
