// Commits per second of the seam on PostgreSQL, beside transactions of single statements through plain pg, in one run: npm run bench:commits
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import pg from 'pg'
import { pino } from 'pino'
import type { ProfileRevisionId, ProjectId, QueueId, ServiceId } from '../../src/model/id.ts'
import { Committer } from '../../src/store/commit/committer.ts'
import { DatabaseClock, synchronise } from '../../src/store/database/clock.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { startPostgreSQL } from '../support/fixtures/postgresqlServer.ts'
import { readHead } from '../support/fixtures/readHead.ts'
import { content, newService, settings } from '../support/fixtures/services.ts'

const serviceCount = 100
const replicas = Number(process.env['REPLICAS'] ?? 10)
const secondsPerRun = 4
const inFlight = [1, 32, 64]

const server = await startPostgreSQL()
try {
  await compare(server.url)
} finally {
  await server.stop()
}

async function compare(url: string): Promise<void> {
  const log = pino({ level: 'warn' })
  const database = await openDatabase({ dataDirectory: tmpdir(), url, log })
  const clock = new DatabaseClock()
  await synchronise(clock, database)
  const committer = new Committer({ database, clock, newId: randomUUID, log })
  const profile = await committer.write({
    kind: 'applyProfile',
    allowDropping: false,
    name: 'p',
    content: content(),
    settings: settings(),
    actor: 'bench',
  })
  if (profile.kind !== 'profile') throw new Error('no profile')
  const project = await database.prisma.project.findFirstOrThrow()
  const queue = await database.prisma.queue.findFirstOrThrow()
  const ids = await Promise.all(
    Array.from({ length: serviceCount }, async (_, index) => {
      const id = randomUUID() as ServiceId
      const service = newService({
        id,
        name: `s${index}`,
        projectId: project.id as ProjectId,
        queueId: queue.id as QueueId,
        profileRevisionId: profile.profileRevisionId as ProfileRevisionId,
        replicas,
      })
      await committer.create(service, 'bench')
      return id
    }),
  )
  const scale = async (turn: number) => {
    const id = ids[turn % serviceCount] as ServiceId
    const to = replicas + 1 - (Math.floor(turn / serviceCount) % 2)
    const outcome = await committer.submit(id, {
      kind: 'scale',
      replicas: to,
      expectedRevision: null,

      actor: 'bench',
    })
    if (outcome.kind !== 'done' || !outcome.changed) throw new Error(JSON.stringify(outcome))
  }
  const pool = new pg.Pool({ connectionString: url, max: Math.max(...inFlight) })
  console.log(
    'in flight | seam: commits/s  facts/s  p50 ms  p99 ms  CPU µs of Node, of PostgreSQL | plain pg: commits/s  p50 ms  p99 ms  CPU µs of PostgreSQL | ratio',
  )
  let turn = 0
  await closedLoop(32, 2, () => scale(turn++))
  for (const count of inFlight) {
    const from = await readHead(database)
    const before = await databaseCpuMillis(pool)
    const seam = await closedLoop(count, secondsPerRun, () => scale(turn++))
    const between = await databaseCpuMillis(pool)
    const facts = Number((await readHead(database)) - from) / seam.seconds
    const plain = await closedLoop(count, secondsPerRun, () =>
      plainTransaction(pool, ids[Math.floor(Math.random() * serviceCount)] as string),
    )
    const after = await databaseCpuMillis(pool)
    const seamCpu = Math.round(((between - before) * 1_000) / seam.done)
    const plainCpu = Math.round(((after - between) * 1_000) / plain.done)
    const columns = [
      count,
      rate(seam),
      Math.round(facts),
      ...tails(seam),
      Math.round(seam.cpuMicros),
      seamCpu,
      '|',
      rate(plain),
      ...tails(plain),
      plainCpu,
      '|',
    ]
    console.log(columns.join('  '), (seam.done / seam.seconds / (plain.done / plain.seconds)).toFixed(2))
  }
  await pool.end()
  await committer.stop()
  await database.close()
}

/** What a server would send without the seam: lock, read, and one statement per row. */
async function plainTransaction(pool: pg.Pool, id: string): Promise<void> {
  const client = await pool.connect()
  try {
    const run = (name: string, text: string, values: unknown[]) => client.query({ name, text, values })
    await client.query('BEGIN')
    await run('lock', 'SELECT * FROM "Service" WHERE "id" = $1 FOR NO KEY UPDATE', [id])
    const { rows } = await run('load', `SELECT * FROM "Replica" WHERE "serviceId" = $1 AND "state" <> 'ENDED'`, [id])
    const replica = rows[0].id as string
    await run('end', 'UPDATE "Replica" SET "start" = "start" + 1 WHERE "id" = $1', [replica])
    await run(
      'service',
      'UPDATE "Service" SET "guard" = "guard" + 1, "desiredReplicas" = "desiredReplicas" WHERE "id" = $1',
      [id],
    )
    const head = await run('head', 'UPDATE "Feed" SET "head" = "head" + 1 WHERE "id" = 1 RETURNING "head"', [])
    const revision = head.rows[0].head as string
    await run('fact', 'INSERT INTO "Fact" VALUES ($1, $2, NULL, $3, $4, now())', [
      revision,
      id,
      'eventOnly',
      '{"format": 1}',
    ])
    await run('event', `INSERT INTO "Event" VALUES ($1, 'REPLICA', $2, 'bench', NULL, $3, $4, NULL, now())`, [
      revision,
      'changed',
      id,
      replica,
    ])
    await run('notify', `SELECT pg_notify('facts', $1)`, [revision])
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

/** Of all processes of the server that serve this database. */
async function databaseCpuMillis(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query('SELECT pid FROM pg_stat_activity WHERE datname = current_database()')
  const ticks = rows.map(({ pid }) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [])
  return ticks.reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) * 10, 0)
}

interface Run {
  readonly done: number
  readonly seconds: number
  readonly millis: readonly number[]
  readonly cpuMicros: number
}

async function closedLoop(count: number, seconds: number, act: () => Promise<void>): Promise<Run> {
  const millis: number[] = []
  const cpu = process.cpuUsage()
  const start = performance.now()
  const until = start + seconds * 1_000
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() < until) {
        const from = performance.now()
        await act()
        millis.push(performance.now() - from)
      }
    }),
  )
  const used = process.cpuUsage(cpu)
  millis.sort((a, b) => a - b)
  return {
    done: millis.length,
    seconds: (performance.now() - start) / 1_000,
    millis,
    cpuMicros: (used.user + used.system) / millis.length,
  }
}

function rate({ done, seconds }: Run): number {
  return Math.round(done / seconds)
}

function tails({ millis }: Run): string[] {
  return [0.5, 0.99].map((share) => (millis[Math.floor(millis.length * share)] ?? 0).toFixed(1))
}
