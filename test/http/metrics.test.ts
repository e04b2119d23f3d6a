import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { counters, feedCounters, gauges, histograms } from '../../src/model/metrics.ts'
import { createToken } from '../../src/store/access/tokens.ts'
import { ApiClient } from '../support/drivers/apiClient.ts'
import { change, createService, placedReplicas, scale } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

let server: TestServer
let metricsToken: string
beforeAll(async () => {
  server = await TestServer.start()
  metricsToken = readFileSync(path.join(server.app.config.dataDirectory, 'metrics-token'), 'utf8').trim()
})
afterAll(() => server.stop())

async function get(token: string | null, method = 'GET') {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(server.at('/metrics'), { method, headers })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** Samples by what stands before the value, as Prometheus would read them. */
async function scrape(): Promise<Map<string, number>> {
  const { status, text } = await get(metricsToken)
  expect(status).toBe(200)
  const samples = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\.)*",?)*\})?) (\S+)$/.exec(
      line,
    )
    if (!sample?.[1]) throw new Error(`Prometheus would not understand: ${line}`)
    expect(samples.has(sample[1]), `${sample[1]} comes once`).toBe(false)
    samples.set(sample[1], Number(sample[2]))
  }
  return samples
}

describe('who may read', () => {
  test('the server writes a token for it, for its owner only', () => {
    expect(statSync(path.join(server.app.config.dataDirectory, 'metrics-token')).mode & 0o777).toBe(0o600)
  })

  test.each<[string, () => Promise<string | null> | string | null, number]>([
    ['without a token', () => null, 401],
    ['with a wrong one', () => 'xce_wrong', 401],
    ['with a worker’s', () => createToken(server.app.database, { subject: 'w', roles: ['worker'] }), 403],
    ['with that one', () => metricsToken, 200],
    ['with an admin’s', () => server.client.token, 200],
  ])('%s', async (_name, token, status) => {
    expect((await get(await token())).status).toBe(status)
  })

  test('the metrics token opens nothing else', async () => {
    const client = new ApiClient(server.url, metricsToken)
    const { errors } = await client.send('{ services { nodes { id } } }')
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  })

  test('a POST is refused', async () => {
    expect((await get(metricsToken, 'POST')).status).toBe(405)
  })
})

test('every metric is there with its help and type, and Node’s own beside them', async () => {
  const { text, type } = await get(metricsToken)
  expect(type).toMatch(/^text\/plain; version=0\.0\.4/)
  for (const [kind, metrics] of [
    ['counter', { ...counters, ...feedCounters }],
    ['histogram', histograms],
    ['gauge', gauges],
  ] as const) {
    for (const { name, help } of Object.values(metrics)) {
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`)
    }
  }
  expect(text).toContain('# TYPE nodejs_eventloop_lag_p99_seconds gauge')
  expect(text).toContain('# TYPE process_resident_memory_bytes gauge')
})

test('what happens is counted: commits, facts, placement, what waits and why, subscribers and their frames', async () => {
  const before = await scrape()
  const worker = new HandWorker(server.client, 'measured')
  await worker.register()
  await createService(server.client, 'measured', 2)
  const placed = await placedReplicas(server.client, 'measured', 2)
  const frames = server.client
    .socket()
    .iterate({ query: 'subscription { endpointChanged(service: { name: "measured" }) { kind } }' })
  await frames.next()
  await worker.report(...placed.map(({ id }) => ({ replica: id, state: 'RUNNING', ready: true }) as const))
  await frames.next()
  await createService(server.client, 'nowhere', 3, { cpuMillis: 900_000 })
  const after = await until(async () => {
    const samples = await scrape()
    return samples.get('xce_replicas_waiting{reason="NO_CAPACITY"}') === 3 ? samples : null
  }, '3 replicas wait for capacity')

  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  const head = server.app.tail.head
  expect(grown('xce_commits_total')).toBeGreaterThanOrEqual(7)
  expect(grown('xce_commit_seconds_count')).toBe(grown('xce_commits_total'))
  expect(grown('xce_commit_seconds_sum')).toBeGreaterThan(0)
  expect(grown('xce_commit_seconds_bucket{le="+Inf"}')).toBe(grown('xce_commit_seconds_count'))
  expect(after.get('xce_feed_revision')).toBe(Number(head))
  expect(after.get('xce_facts_total')).toBe(Number(head))
  expect(after.get('xce_feed_lag_seconds_count')).toBeGreaterThan(0)
  expect(grown('xce_placement_grants_total{outcome="granted"}')).toBe(2)
  expect(grown('xce_placement_runs_total')).toBeGreaterThan(0)
  expect(after.get('xce_feed_live')).toBe(1)
  expect(after.get('xce_feed_subscribers')).toBe(1)
  expect(after.get('xce_feed_groups')).toBe(1)
  expect(grown('xce_feed_frames_delivered_total')).toBeGreaterThanOrEqual(2)
  expect(after.get('xce_snapshot_cache_services')).toBeGreaterThanOrEqual(2)

  await frames.return?.(undefined)
  await scale(server.client, 'nowhere', 0)
  await until(async () => {
    const samples = await scrape()
    return samples.get('xce_feed_subscribers') === 0 && !samples.has('xce_replicas_waiting{reason="NO_CAPACITY"}')
  }, 'nothing waits and nobody subscribes')
})

test('hosts by state, registrations, renewals with what was left of the lease, fenced messages, and judgements on silent hosts are counted', async () => {
  const scene = await TestServer.start(undefined, undefined, {
    env: { XCE_LEASE_SECONDS: '1', XCE_GRACE_SECONDS: '0', XCE_METRICS: 'open' },
  })
  try {
    const samplesOf = async () => {
      const text = await (await fetch(scene.at('/metrics'))).text()
      return (name: string) =>
        Number(
          text
            .split('\n')
            .find((line) => line.startsWith(`${name} `))
            ?.split(' ')[1] ?? 0,
        )
    }
    const kept = new HandWorker(scene.client, 'kept')
    await kept.register()
    await kept.renew()
    // Its next renewal is not due while the test looks, however long that takes.
    const leaseUntil = new Date(Date.now() + 3_600_000)
    await scene.app.database.prisma.worker.update({ where: { name: 'kept' }, data: { leaseUntil } })
    const lost = new HandWorker(scene.client, 'lost')
    await lost.register()
    await lost.renew()
    await until(async () => (await samplesOf())('xce_hosts{state="LOST"}') === 1, 'the host that is silent is lost')
    expect(await lost.renew()).toMatchObject({ code: 'FENCED' })
    await change(scene.client, 'drainHost', 'DrainHostInput', { host: { name: 'kept' } })
    const sample = await until(async () => {
      const samples = await samplesOf()
      return samples('xce_hosts{state="DRAINED"}') === 1 ? samples : null
    }, 'a host is drained')
    expect(sample('xce_hosts{state="OPEN"}')).toBe(0)
    const ends =
      'mutation ($input: EndWorkerInput!) { result: endWorker(input: $input) { ... on EndWorkerPayload { worker } } }'
    expect(await scene.client.worker.ask(ends, { input: { worker: kept.id, epoch: kept.epoch } })).toEqual({
      result: { worker: kept.id },
    })
    expect(await scene.client.ask('{ host(name: "kept") { reachability } }')).toEqual({
      host: { reachability: 'ENDED' },
    })
    const ended = await samplesOf()
    expect([ended('xce_hosts{state="ENDED"}'), ended('xce_hosts{state="LOST"}')]).toEqual([1, 1])
    expect(sample('xce_worker_registrations_total')).toBe(2)
    expect(sample('xce_worker_fenced_total')).toBe(1)
    expect(sample('xce_worker_verdicts_total{to="UNREACHABLE"}')).toBe(1)
    expect(sample('xce_worker_verdicts_total{to="LOST"}')).toBe(1)
    expect(sample('xce_lease_left_seconds_count')).toBeGreaterThan(1)
    expect(sample('xce_lease_left_seconds_bucket{le="1"}')).toBe(sample('xce_lease_left_seconds_count'))
  } finally {
    await scene.stop()
  }
})
