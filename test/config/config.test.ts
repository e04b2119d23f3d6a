import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ConfigError, helpText, readConfig } from '../../src/config/config.ts'

function mistakesOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
  return []
}

describe('settings', () => {
  test('without any: the embedded database with a local worker on 127.0.0.1:4000', () => {
    const { config, warnings } = readConfig({ PATH: '/bin' })
    expect(config).toEqual({
      host: '127.0.0.1',
      port: 4000,
      keepAliveSeconds: 75,
      dataDirectory: '.xce',
      databaseUrl: null,
      localWorker: true,
      stopReplicasOnExit: false,
      logLevel: 'info',
      logFormat: null,
      leaseSeconds: 15,
      graceSeconds: 60,
      idleTransactionSeconds: 5,
      databaseSilenceSeconds: 60,
      retention: {
        facts: { kept: 100_000, keptSeconds: 3_600, mostKept: 1_000_000 },
        events: { keptHours: 168, mostKept: 200_000 },
        endedReplicas: { keptHours: 168, mostKept: 100_000 },
        versionsKept: 100,
      },
      slowReadersMiB: 64,
      metrics: 'token',
    })
    expect(warnings).toEqual([])
  })

  test('with PostgreSQL the local worker is off unless it is asked for', () => {
    const DATABASE_URL = 'postgresql://localhost/xce'
    expect(readConfig({ DATABASE_URL }).config.localWorker).toBe(false)
    expect(readConfig({ DATABASE_URL, XCE_LOCAL_WORKER: 'on' }).config.localWorker).toBe(true)
  })

  test('an empty variable is as good as none', () => {
    expect(readConfig({ XCE_PORT: '', DATABASE_URL: '' }).config).toMatchObject({ port: 4000, databaseUrl: null })
  })

  test.each([
    ['XCE_PORT', 'abc'],
    ['XCE_PORT', '-1'],
    ['XCE_PORT', '65536'],
    ['XCE_PORT', '4000.5'],
    ['XCE_KEEP_ALIVE_SECONDS', '0'],
    ['XCE_LOCAL_WORKER', 'yes'],
    ['XCE_STOP_REPLICAS_ON_EXIT', 'true'],
    ['XCE_LOG_LEVEL', 'loud'],
    ['XCE_LOG_FORMAT', 'xml'],
    ['XCE_LEASE_SECONDS', '0'],
    ['XCE_GRACE_SECONDS', '1e3'],
    ['DATABASE_URL', 'mysql://localhost/xce'],
    ['XCE_FACTS_KEPT', '999'],
    ['XCE_EVENTS_KEPT_HOURS', '0'],
    ['XCE_VERSIONS_KEPT', '1'],
    ['XCE_METRICS', 'public'],
  ])('%s=%s is a mistake, told in one sentence that names both', (name, value) => {
    const mistakes = mistakesOf({ [name]: value })
    expect(mistakes).toHaveLength(1)
    expect(mistakes[0]).toMatch(new RegExp(`^${name} is "${value}": .+\\.$`))
  })

  test.each([
    ['mysql://app:s3cret@db/xce', 'mysql://app:***@db/xce'],
    ['mysql://app:s3c:r@t/@db/xce', 'mysql://app:***@db/xce'],
    ['mysql://:s3cret@db/xce', 'mysql://:***@db/xce'],
    ['mysql://db/xce?user=app&password=s3cret&x=1', 'mysql://db/xce?user=app&password=***&x=1'],
  ])('a DATABASE_URL that is a mistake is told without its password: %s', (value, told) => {
    expect(mistakesOf({ DATABASE_URL: value })).toEqual([expect.stringContaining(`DATABASE_URL is "${told}": `)])
  })

  test.each(['a:p#w', 'a:1#w', 'a:p/w', 'a:p?w'])(
    'what is special in the user and password of a DATABASE_URL is to be percent-encoded: %s',
    (login) => {
      const [mistake, ...others] = mistakesOf({ DATABASE_URL: `postgresql://${login}@db/xce` })
      expect(others).toEqual([])
      expect(mistake).toBe(
        'DATABASE_URL is "postgresql://a:***@db/xce": percent-encode special characters in its user and password, for example # as %23 and / as %2F.',
      )
    },
  )

  test.each([
    'postgresql://a:p%23w@db/xce',
    'postgresql:///xce?host=/tmp',
    'postgresql://a@/xce?host=/tmp',
    'postgres://[::1]:5432/xce',
  ])('a DATABASE_URL that the driver takes is none: %s', (DATABASE_URL) => {
    expect(readConfig({ DATABASE_URL }).config.databaseUrl).toBe(DATABASE_URL)
  })

  test('what the local worker would refuse is a mistake of the server’s settings where there is one', () => {
    const env = { XCE_WORKER_PORT_RANGE: '5-2', XCE_WORKER_ADDRESSES: 'here' }
    expect(mistakesOf(env)).toEqual([
      'XCE_WORKER_ADDRESSES has "here": give an IP address, for example 10.0.0.1.',
      'XCE_WORKER_PORT_RANGE is "5-2": give two ports from 1 to 65535, the smaller first, for example 20000-32000.',
    ])
    expect(mistakesOf({ ...env, XCE_LOCAL_WORKER: 'off' })).toEqual([])
    // Of a worker that somebody starts himself: the local one never sees them.
    expect(mistakesOf({ XCE_WORKER_SERVERS: 'nowhere', XCE_WORKER_TOKEN_FILE: '' })).toEqual([])
  })

  test('the least of facts that are kept is not above the most', () => {
    expect(mistakesOf({ XCE_FACTS_KEPT: '5000', XCE_FACTS_KEPT_MOST: '4000' })).toEqual([
      expect.stringMatching(/XCE_FACTS_KEPT_MOST 4000/),
    ])
  })

  test('all mistakes are told at once', () => {
    expect(mistakesOf({ XCE_PORT: 'x', XCE_LOCAL_WORKER: 'x', XCE_LOG_LEVEL: 'x' })).toHaveLength(3)
  })

  test('a variable that looks like a setting and is none is warned of; the local worker’s are not', () => {
    const { warnings } = readConfig({ XCE_PROT: '4000', XCE_WORKER_PORT_RANGE: '21000-22000' })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('XCE_PROT')
  })

  test('the help names every setting', () => {
    for (const name of [
      'XCE_HOST',
      'XCE_PORT',
      'XCE_DATA_DIR',
      'DATABASE_URL',
      'XCE_LOCAL_WORKER',
      'XCE_WORKER_PORT_RANGE',
    ]) {
      expect(helpText()).toContain(name)
    }
  })

  test('docs/settings.md tells every setting as the help does', () => {
    const rows = readFileSync('docs/settings.md', 'utf8').matchAll(
      /^\| `(XCE_[A-Z_]+|DATABASE_URL)` \| (?:`(.*)`)? \| (.*) \|$/gm,
    )
    const told = [...rows].map(([, name, unset, does]) => `${name}  ${does}${unset === undefined ? '' : ` [${unset}]`}`)
    expect(told).toEqual(
      helpText()
        .split('\n')
        .slice(2, -1)
        .map((line) => line.trim().replace(/ {2,}/, '  ')),
    )
  })
})
