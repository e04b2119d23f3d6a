import { Socket } from 'node:net'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Logger } from 'pino'
import { PrismaClient } from '../../generated/prisma/client.ts'
import { DatabaseError } from './databaseErrors.ts'
import { openEmbedded } from './embedded.ts'
import { Listener, type OnMessage, type OnReconnect, Subscriptions } from './listener.ts'
import { type Migrated, type MigrationConnection, migrate } from './migrate.ts'
import { databaseName, embeddedNotMigrated, newClient, notMigrated, unreachable } from './openErrors.ts'
import { PGliteStream } from './pglite.ts'

export interface Database {
  readonly kind: 'embedded' | 'postgresql'
  /** The name of the database, for people. */
  readonly name: string
  readonly prisma: PrismaClient
  /**
   * Listens to NOTIFY on `channel` until the returned function is called. After `onReconnect` the messages of the last
   * moments may be lost.
   */
  listen(channel: string, onMessage: OnMessage, onReconnect?: OnReconnect): Promise<() => Promise<void>>
  /** Says that nothing can be written because the disk is full. PostgreSQL says so only in its answer to a write. */
  isFull(): Promise<boolean>
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** The directory that has the embedded database in its folder `database`. */
  readonly dataDirectory: string
  /** The URL of a PostgreSQL server. Without it the embedded database is opened. */
  readonly url?: string
  /**
   * A connection on which nothing was heard for this long is cut, with the statement that waits; 60 s when left out. No
   * statement takes that long.
   */
  readonly silenceMillis?: number
  /** PostgreSQL cuts off a session that is idle inside a transaction for this long; 5 s when left out. */
  readonly idleTransactionSeconds?: number
  readonly log: Logger
}

/**
 * Says whether the database refuses every change, because it was told to or is a standby. Rejects when it does not
 * answer.
 */
export async function isReadOnly({ prisma }: Database): Promise<boolean> {
  const [row] = await prisma.$queryRaw<
    { on: boolean }[]
  >`SELECT current_setting('transaction_read_only') = 'on' AS "on"`
  return row?.on === true
}

// More connections make commits slower. The committer uses one, and the others are for reads.
const poolSize = 6

/**
 * Opens the database and brings it to this version's schema. Errors are sentences for the person who starts the server.
 */
export function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url === undefined ? openOnPGlite(options) : openOnPostgreSQL(options.url, options)
}

async function openOnPGlite({ dataDirectory, log }: DatabaseOptions): Promise<Database> {
  const embedded = await openEmbedded(dataDirectory, log)
  try {
    const { pglite } = embedded
    const connection: MigrationConnection = {
      exec: (script) => pglite.exec(script),
      query: (sql, params) => pglite.query(sql, params),
    }
    const migrated = await migrate(connection).catch((error: unknown) => {
      throw embeddedNotMigrated(dataDirectory, error)
    })
    logMigrated(migrated, log)
    // User and database are PGlite's own. They are given here, so that no PG… variable of the environment changes them.
    const session = {
      user: 'postgres',
      database: 'postgres',
      password: '',
      ssl: false,
      stream: () => new PGliteStream(pglite) as never,
    }
    const pool = new pg.Pool({ ...session, max: 1, idleTimeoutMillis: 0, onConnect: configure })
    const subscriptions = new Subscriptions()
    pool.on('connect', (client) => {
      client.on('notification', ({ channel, payload }) => subscriptions.deliver(channel, payload ?? ''))
    })
    const prisma = connectPrisma(pool, log)
    return {
      kind: 'embedded',
      name: `the embedded database in ${dataDirectory}`,
      prisma,
      listen: async (channel, onMessage, onReconnect = () => undefined) => {
        const remove = subscriptions.add({ channel, onMessage, onReconnect })
        await pool.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
        return async () => remove()
      },
      isFull: () => embedded.isFull(),
      close: async () => {
        await prisma.$disconnect()
        await pool.end()
        await embedded.close()
      },
    }
  } catch (error) {
    await embedded.close()
    throw error
  }
}

async function openOnPostgreSQL(connectionString: string, options: DatabaseOptions): Promise<Database> {
  const { log, silenceMillis = 60_000, idleTransactionSeconds = 5 } = options
  const name = await migratePostgreSQL(connectionString, log)
  const subscriptions = new Subscriptions()
  const listener = new Listener(connectionString, subscriptions, log)
  await listener.start()
  const pool = new pg.Pool({
    connectionString,
    max: poolSize,
    keepAlive: true,
    application_name: 'xce-services',
    connectionTimeoutMillis: 10_000,
    // A connection that nobody uses is closed after 10 s.
    stream: () => silenceCut(silenceMillis),
    onConnect: async (client) => {
      await configure(client)
      await client.query(`SET idle_in_transaction_session_timeout = '${idleTransactionSeconds}s'`)
    },
  })
  const prisma = connectPrisma(pool, log)
  return {
    kind: 'postgresql',
    name,
    prisma,
    listen: async (channel, onMessage, onReconnect = () => undefined) => {
      const remove = subscriptions.add({ channel, onMessage, onReconnect })
      await listener.listen(channel)
      return async () => remove()
    },
    isFull: async () => false,
    close: async () => {
      await prisma.$disconnect()
      await Promise.all([pool.end(), listener.close()])
    },
  }
}

/**
 * A socket that is cut when nothing has passed on it for this long. When a database disappears without a word (its
 * machine died, or another one has its address), TCP itself reports it only after a quarter of an hour, and whoever
 * waits for an answer would wait as long.
 */
function silenceCut(millis: number): Socket {
  const socket = new Socket()
  socket.setTimeout(millis, () => {
    const error = new Error(`Nothing was heard of the database on this connection for ${millis / 1_000} s: it is cut.`)
    socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
  })
  return socket
}

// Statements are prepared once, often while the tables are still empty, so their plans must be good for full tables
// too. Prisma's adapter writes instants without a zone and ignores their zone when it reads them. Both are right only
// in UTC, whatever zone the database was set up with.
async function configure(client: pg.ClientBase): Promise<void> {
  await client.query(`SET enable_seqscan = off; SET jit = off; SET timezone = 'UTC'`)
}

/** The number of distinct statements that get a name. A connection keeps everything that it prepares under a name. */
const mostStatementNames = 500

/**
 * Names for prepared statements. The same text gets the same name. Beyond the bound a statement has no name and is
 * planned at each run.
 */
class StatementNames {
  readonly #names = new Map<string, string>()

  of(sql: string): string {
    const known = this.#names.get(sql)
    if (known !== undefined) return known
    if (this.#names.size >= mostStatementNames) return ''
    const name = `xce${this.#names.size + 1}`
    this.#names.set(sql, name)
    return name
  }
}

function connectPrisma(pool: pg.Pool, log: Logger): PrismaClient {
  pool.on('error', (error) =>
    log.warn({ err: new DatabaseError('UNREACHABLE', null, error) }, 'A connection to the database broke.'),
  )
  const names = new StatementNames()
  const adapter = new PrismaPg(pool, { statementNameGenerator: ({ sql }) => names.of(sql) })
  // Prisma's own limits (2 s to get a connection, 5 s in all) are too short for a queue of statements.
  return new PrismaClient({ adapter, transactionOptions: { maxWait: 30_000, timeout: 30_000 } })
}

/** Returns which database it is. */
async function migratePostgreSQL(connectionString: string, log: Logger): Promise<string> {
  const client = newClient({
    connectionString,
    application_name: 'xce-services migrations',
    connectionTimeoutMillis: 10_000,
  })
  await client.connect().catch((error: unknown) => {
    throw unreachable(client, error)
  })
  try {
    const connection: MigrationConnection = {
      exec: (script) => client.query(script),
      query: (sql, params) => client.query(sql, params),
    }
    logMigrated(await migrate(connection), log)
    return databaseName(client)
  } catch (error) {
    throw notMigrated(client, error)
  } finally {
    await client.end()
  }
}

function logMigrated({ applied, newer }: Migrated, log: Logger): void {
  if (applied.length > 0) log.info(`Applied ${named(applied)}.`)
  if (newer.length === 0) return
  log.warn(
    `A newer version has expanded this database by ${named(newer)}, and this version goes on with it: upgrade this server too.`,
  )
}

function named(migrations: readonly string[]): string {
  return `the migration${migrations.length === 1 ? '' : 's'} ${migrations.join(', ')}`
}
