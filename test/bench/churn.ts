// The embedded database's size while services churn, with retention and without, in one run: npm run bench:churn
// Each round kills and replaces every replica of 10 services 7 times. Rows of earlier rounds are dated back by 2 hours, so that ages pass too.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { Tail } from '../../src/feed/tail.ts'
import type { Retention } from '../../src/model/retention.ts'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { readFacts } from '../../src/store/read/readFacts.ts'
import { RetentionRunner } from '../../src/systems/retention/retention.ts'
import { Churn } from '../support/drivers/churn.ts'
import { TestStore } from '../support/drivers/store.ts'

const rounds = Number(process.env['ROUNDS'] ?? 24)
/** Before, the tables and the log come to their size: PostgreSQL keeps 80 MiB of log to write into again. */
const steadyFrom = Math.ceil(rounds / 2)
const mostGrowth = 1.1
const services = 10
const replicas = 25
const turnsPerRound = 7
const retention: Retention = {
  facts: { kept: 2_000, keptSeconds: 0, mostKept: 10_000 },
  events: { keptHours: 1, mostKept: 2_000 },
  endedReplicas: { keptHours: 1, mostKept: 1_000 },
  versionsKept: 10,
}
const log = pino({ level: 'warn' })
const mib = (bytes: number) => (bytes / 1_048_576).toFixed(1).padStart(7)

interface Sizes {
  readonly tables: number
  readonly log: number
}

async function run(withRetention: boolean, rounds: number): Promise<Sizes[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'xce-churn-'))
  const database = await openDatabase({ dataDirectory: directory, log })
  try {
    const store = await TestStore.on(database)
    const tail = new Tail({ database, committer: store.committer, log })
    await tail.start()
    const runner = new RetentionRunner({ database, tail, retention, log })
    if (withRetention) runner.start()
    const churn = await Churn.on(store, services, replicas)
    console.log(
      `\n${withRetention ? 'With' : 'Without'} retention: MiB of tables, of write-ahead log; rows kept; how long a commit waited (ms)`,
    )
    console.log('round   tables      log   head   facts  events  ended  batches    p50    p99    max')
    const sizes: Sizes[] = []
    for (let round = 1; round <= rounds; round++) {
      const millis: number[] = []
      for (let turn = 0; turn < turnsPerRound; turn++) await churn.round(millis)
      // Time for the run that these facts call for.
      await wait(1_500)
      sizes.push(await measure(database, directory, round, millis))
      await dateBack(database)
    }
    await runner.stop()
    await tail.stop()
    await store.committer.stop()
    return sizes
  } finally {
    await database.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measure(database: Database, directory: string, round: number, millis: number[]): Promise<Sizes> {
  const [counts] = await database.prisma.$queryRaw<
    { facts: number; events: number; ended: number; batches: number; bytes: number }[]
  >`
    SELECT (SELECT count(*)::int FROM "Fact") AS facts, (SELECT count(*)::int FROM "Event") AS events,
      (SELECT count(*)::int FROM "Replica" WHERE "endedAt" IS NOT NULL) AS ended, (SELECT count(*)::int FROM "Batch") AS batches,
      pg_database_size(current_database())::float8 AS bytes`
  if (!counts) throw new Error('no counts')
  const wal = path.join(directory, 'database', 'pg_wal')
  const sizes = {
    tables: counts.bytes,
    log: readdirSync(wal).reduce((sum, file) => sum + statSync(path.join(wal, file)).size, 0),
  }
  const sorted = millis.toSorted((a, b) => a - b)
  const quantile = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0).padStart(6)
  const { head } = await readFacts(database, null, 0)
  console.log(
    [
      String(round).padStart(5),
      mib(sizes.tables),
      mib(sizes.log),
      String(head).padStart(7),
      String(counts.facts).padStart(7),
      String(counts.events).padStart(7),
      String(counts.ended).padStart(6),
      String(counts.batches).padStart(8),
      ...[0.5, 0.99, 1].map(quantile),
    ].join(' '),
  )
  return sizes
}

async function dateBack({ prisma }: Database): Promise<void> {
  await prisma.$executeRaw`UPDATE "Batch" SET "at" = "at" - interval '2 hours' WHERE "at" > clock_timestamp() - interval '1 hour'`
}

const total = ({ tables, log }: Sizes) => tables + log
/** How much larger it was at most after round `from` than at most before, from `from / 2` on. */
const growth = (sizes: readonly Sizes[], from: number) => {
  const most = (some: readonly Sizes[]) => Math.max(...some.map(total))
  return most(sizes.slice(from)) / most(sizes.slice(Math.floor(from / 2), from))
}

const kept = await run(true, rounds)
// It is as clear after half of them.
const grown = await run(false, steadyFrom)
console.log(
  `\nThe most of the second half to the most of the quarter before: × ${growth(kept, steadyFrom).toFixed(2)} with retention, × ${growth(grown, Math.ceil(steadyFrom / 2)).toFixed(2)} without.`,
)
if (!(growth(kept, steadyFrom) < mostGrowth)) {
  console.error(`With retention the size should grow by less than × ${mostGrowth}.`)
  process.exitCode = 1
}
