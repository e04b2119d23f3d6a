import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { pino } from 'pino'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { Rng } from '../feed/rng.ts'
import { databaseUrl } from '../support/fixtures/globalSetup.ts'
import { processesWith } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'
import { Caller } from './caller.ts'
import { Chaos } from './chaos.ts'
import { type Cluster, keepLog, startCluster } from './cluster.ts'
import { HostOperator } from './hostOperator.ts'
import { Judge } from './judge.ts'
import { judgeQuiet } from './quiet.ts'
import { ServiceUser } from './serviceUser.ts'
import { type SizeSample, takeSize } from './size.ts'
import { SoakFollower } from './soakFollower.ts'
import { soakKinds } from './soakKinds.ts'
import { SoakSubscriber } from './soakSubscriber.ts'
import { Tally } from './tally.ts'

export interface SoakOptions {
  readonly minutes: number
  readonly seed: number
  readonly servers: number
  readonly workers: number
  readonly services: number
  /** Of a PostgreSQL server: the soak makes a database of its own on it, and drops it. */
  readonly serverUrl: string
  /** Hears of the run as it goes on. */
  readonly onProgress: (progress: SoakProgress) => void
}

export interface SoakProgress {
  readonly seconds: number
  readonly tally: Tally
  readonly sizes: readonly SizeSample[]
}

export interface SoakResult extends SoakProgress {
  /** Logs and facts of a run that failed; null: there is nothing to see. */
  readonly directory: string | null
}

const lookEveryMillis = 1_000
const sampleEveryMillis = 10_000
const mostMillis = { service: 2_500, host: 8_000, chaos: 8_000 }

/** One soak. Whatever becomes of it, no process and no database is left. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const name = `xce_soak_${randomUUID().replaceAll('-', '')}`
  const url = databaseUrl(options.serverUrl, name)
  const directory = mkdtempSync(path.join(tmpdir(), 'xce-soak-'))
  const tally = new Tally()
  const sizes: SizeSample[] = []
  const began = performance.now()
  const progress = () => ({ seconds: Math.round((performance.now() - began) / 1_000), tally, sizes })
  await onServer(options.serverUrl, `CREATE DATABASE "${name}"`)
  const database = await openDatabase({ dataDirectory: directory, url, log: pino({ level: 'warn' }) })
  let cluster: Cluster | null = null
  try {
    cluster = await startCluster(directory, url, options)
    await soak(options, database, cluster, tally, sizes, () => options.onProgress(progress()))
  } catch (error) {
    tally.fault(error instanceof Error ? (error.stack ?? error.message) : String(error))
  } finally {
    if (tally.faults.length > 0) await keepEvidence(database, directory)
    if (cluster !== null) await (tally.faults.length > 0 ? abandon(cluster) : end(cluster, tally))
    for (const pid of processesWith(directory)) process.kill(pid, 'SIGKILL')
    await database.close()
    await onServer(options.serverUrl, `DROP DATABASE "${name}" WITH (FORCE)`)
  }
  if (tally.faults.length > 0) return { ...progress(), directory }
  rmSync(directory, { recursive: true, force: true })
  return { ...progress(), directory: null }
}

async function soak(
  { minutes, seed, services }: SoakOptions,
  database: Database,
  cluster: Cluster,
  tally: Tally,
  sizes: SizeSample[],
  onSample: () => void,
): Promise<void> {
  const rng = new Rng(seed)
  const clients = cluster.servers.map(({ client }) => client)
  const caller = (who: string) => new Caller(who, clients, rng.fork(), tally)
  const hosts = [...new Set(cluster.hosts.values())]
  await until(async () => (await database.prisma.worker.count()) === cluster.workers.length, 'all workers are there')
  const users = Array.from({ length: services }, (_, at) => {
    const name = `soak-${at + 1}`
    return new ServiceUser(name, cluster.directory, caller(name), database, rng.fork(), tally)
  })
  const operator = new HostOperator(hosts, caller('operator'), database, rng.fork(), tally)
  const chaos = new Chaos(cluster, rng.fork(), tally, async (name, since) => {
    const worker = await database.prisma.worker.findUnique({ where: { name } })
    return worker !== null && worker.lastSeenAt.getTime() > since
  })
  const subscribers = users.flatMap(({ name }) =>
    [false, true].map((includeNotReady) => new SoakSubscriber(name, includeNotReady, clients, rng.fork(), tally)),
  )
  const followers = (Object.keys(soakKinds) as (keyof typeof soakKinds)[]).flatMap((kind) => {
    // Two of each list, and one of each service.
    const names = soakKinds[kind].isOfService ? users.map(({ name }) => name) : ['', '']
    return names.map((name) => new SoakFollower(kind, name, clients, rng.fork(), tally))
  })
  const judge = new Judge(database, tally, chaos, subscribers, followers)

  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const streams = [...subscribers, ...followers].map(({ stream }) => stream)
  const following = streams.map((stream) => stream.run())
  const acting = [
    ...users.map((user) => user.run(ending.signal, mostMillis.service)),
    operator.run(ending.signal, mostMillis.host),
    chaos.run(ending.signal, mostMillis.chaos),
  ]
  const acted = Promise.all(acting)
  // Looked at when the time is over: a failure ends the run before.
  acted.catch((error: unknown) => tally.fault(String(error)))
  try {
    const endsAt = performance.now() + minutes * 60_000
    let sampledAt = Number.NEGATIVE_INFINITY
    while (performance.now() < endsAt && tally.faults.length === 0) {
      await judge.look()
      if (performance.now() - sampledAt >= sampleEveryMillis) {
        sampledAt = performance.now()
        sizes.push(await takeSize(database))
        onSample()
      }
      await wait(lookEveryMillis)
    }
  } finally {
    ending.abort()
    await acted.catch(() => undefined)
  }
  try {
    if (tally.faults.length > 0) return
    await operator.settle()
    for (const user of users) await user.settle()
    for (const fault of await judgeQuiet(database, judge, subscribers, followers, cluster)) tally.fault(fault)
    for (const user of users) await user.verify()
    sizes.push(await takeSize(database))
    onSample()
  } finally {
    for (const stream of streams) await stream.stop()
    await Promise.all(following)
  }
}

/** Ends all in order: what does not end so, or is left, is a fault. */
async function end(cluster: Cluster, tally: Tally): Promise<void> {
  for (const worker of cluster.workers) await worker.end('SIGUSR2')
  for (const server of cluster.servers) {
    const status = await server.process.end()
    if (status !== 0) tally.fault(`${server.name} ended with ${status} on SIGTERM.`)
  }
  keepLogs(cluster)
  const left = processesWith(cluster.directory)
  if (left.length > 0) tally.fault(`Processes are left: ${left.join(', ')}.`)
}

/** After a failure: whatever is in the middle of something ends. */
async function abandon(cluster: Cluster): Promise<void> {
  for (const worker of cluster.workers) await worker.end('SIGKILL')
  for (const server of cluster.servers) await server.process.end('SIGKILL')
  keepLogs(cluster)
}

function keepLogs(cluster: Cluster): void {
  for (const server of cluster.servers) keepLog(cluster, server)
  for (const worker of cluster.workers) writeFileSync(path.join(cluster.directory, `${worker.name}.log`), worker.output)
}

/** The newest facts, events and replicas, for who looks for what was wrong. */
async function keepEvidence({ prisma }: Database, directory: string): Promise<void> {
  const lines = (rows: readonly object[]) =>
    rows
      .map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)))
      .join('\n')
  const newest = { orderBy: { revision: 'desc' }, take: 3_000 } as const
  writeFileSync(path.join(directory, 'facts.jsonl'), lines(await prisma.fact.findMany(newest)))
  writeFileSync(path.join(directory, 'events.jsonl'), lines(await prisma.event.findMany(newest)))
  writeFileSync(path.join(directory, 'replicas.jsonl'), lines(await prisma.replica.findMany()))
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
