import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import type { Logger } from 'pino'
import { v7 } from 'uuid'
import type { Config } from '../config/config.ts'
import { Feed } from '../feed/feed.ts'
import { measureTail } from '../feed/measureTail.ts'
import { Tail } from '../feed/tail.ts'
import { writeWhole } from '../files/writeWhole.ts'
import { schema, workerSchema } from '../graphql/schema.ts'
import { HttpServer } from '../http/httpServer.ts'
import { Metrics } from '../http/metrics.ts'
import { Committer } from '../store/commit/committer.ts'
import { DatabaseClock, synchronise } from '../store/database/clock.ts'
import { isReadOnly, openDatabase } from '../store/database/database.ts'
import { databaseErrorOf } from '../store/database/databaseErrors.ts'
import { lockDirectory } from '../store/database/lock.ts'
import { LocalWorker } from '../systems/localWorker/localWorker.ts'
import { LogReaders } from '../systems/logs/logReaders.ts'
import { LogRelay } from '../systems/logs/logRelay.ts'
import { LogRequests } from '../systems/logs/logRequests.ts'
import { Outlook } from '../systems/placement/outlook.ts'
import { PlacementView } from '../systems/placement/placementView.ts'
import { Placer } from '../systems/placement/placer.ts'
import { Previews } from '../systems/placement/previews.ts'
import { RetentionRunner } from '../systems/retention/retention.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { scanServices } from '../systems/timers/startUpScan.ts'
import { Timers } from '../systems/timers/timers.ts'
import { Sessions } from '../systems/tokens/sessions.ts'
import { ensureToken } from '../systems/tokens/tokenFile.ts'
import { ServiceTroubles } from '../systems/warnings/serviceTroubles.ts'
import { Drains } from '../systems/workers/drains.ts'
import { ReturningWorkers } from '../systems/workers/returningWorkers.ts'
import { WorkerLeases } from '../systems/workers/workerLeases.ts'
import { WorkerRefusals } from '../systems/workers/workerRefusals.ts'
import { gaugeReaders } from './gauges.ts'
import type { OutageLog } from './outageLog.ts'

export interface RunningServer {
  readonly app: ServerContext
  /** The URL of the API, for programs on this machine. */
  readonly url: string
  /** Stops everything in the reverse order of its start. */
  stop(): Promise<void>
}

export interface ContextOptions {
  readonly config: Config
  readonly log: Logger
  /** Filters `log` while the database is away; without it every failure is logged. */
  readonly outageLog?: OutageLog
  /** The silence after which a subscriber that asked for it gets a BOOKMARK; 15 s when omitted (R16). */
  readonly bookmarkMillis?: number
}

export interface ServerOptions extends ContextOptions {
  /** The path of the compiled worker program, for the local worker. */
  readonly workerProgram: string
  readonly env: NodeJS.ProcessEnv
}

/** Starts a server. When a part fails to start, the parts that were started before are stopped. */
export function startServer(options: ServerOptions): Promise<RunningServer> {
  return startInOrder(options.log, async (started) => {
    const { app, metrics } = await openContext(options, started)
    return { app, url: await startActiveParts(app, metrics, options, started) }
  })
}

/** A server without timers, placement and transport, in which nothing happens unless its context is called. */
export interface QuietServer {
  readonly app: ServerContext
  stop(): Promise<void>
}

/** Opens the context that every server has and starts nothing that is active, for tests of the API alone. */
export function startQuietServer(options: ContextOptions): Promise<QuietServer> {
  return startInOrder(options.log, async (started) => {
    const { app } = await openContext(options, started)
    return { app }
  })
}

/** Records that a part runs, and how it is stopped. */
type Started = (what: string, stop: () => Promise<void> | void) => void

async function startInOrder<Parts extends object>(
  log: Logger,
  start: (started: Started) => Promise<Parts>,
): Promise<Parts & { stop(): Promise<void> }> {
  const stops: { readonly what: string; readonly stop: () => Promise<void> | void }[] = []
  const started: Started = (what, stop) => stops.unshift({ what, stop })
  const stop = async () => {
    for (const part of stops.splice(0)) {
      try {
        await part.stop()
      } catch (error) {
        if (databaseErrorOf(error) === null) log.error({ err: error }, `Stopping failed: ${part.what}.`)
        else
          log.warn(
            `The database did not take note of a stop: ${part.what}. That does no harm: what it keeps for this server expires.`,
          )
      }
    }
  }
  try {
    return { ...(await start(started)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openContext(
  { config, log, outageLog, bookmarkMillis }: ContextOptions,
  started: Started,
): Promise<{ app: ServerContext; metrics: Metrics }> {
  const { dataDirectory, databaseUrl, databaseSilenceSeconds, idleTransactionSeconds } = config
  if (databaseUrl !== null) {
    // The embedded database locks the directory itself.
    const lock = await lockDirectory(dataDirectory)
    started('the lock of the data directory', () => lock.release())
  }
  const patience = { silenceMillis: databaseSilenceSeconds * 1_000, idleTransactionSeconds }
  const database = await openDatabase({
    dataDirectory,
    log,
    ...patience,
    ...(databaseUrl === null ? {} : { url: databaseUrl }),
  })
  started('the database', () => database.close())
  const isOutage = (error: unknown) => databaseErrorOf(error) === 'UNREACHABLE'
  outageLog?.follow({ name: database.name, isOutage, query: () => isReadOnly(database) }, log)
  started('the checks whether the database is back', () => outageLog?.stop())
  const metrics = new Metrics()
  const clock = new DatabaseClock()
  await synchronise(clock, database)
  const troubles = new ServiceTroubles(log)
  const { versionsKept } = config.retention
  const committer = new Committer({
    database,
    clock,
    newId: v7,
    log,
    meter: metrics,
    versionsKept,
    onChanged: (change) => troubles.take(change),
  })
  started('the committer', () => committer.stop())
  const sessions = new Sessions(database)
  const tail = new Tail({ database, committer, log, onTokensChanged: () => sessions.revalidate() })
  await tail.start()
  started('the tail', () => tail.stop())
  started('the tail’s measures', measureTail(tail, clock, metrics))
  const waitingBytes = config.slowReadersMiB * 1_048_576
  const feed = new Feed({ database, tail, waitingBytes, ...(bookmarkMillis === undefined ? {} : { bookmarkMillis }) })
  feed.start()
  started('the feed', () => feed.stop())
  const logRequests = new LogRequests(
    v7,
    database.kind === 'embedded' ? null : new LogRelay({ database, log, newId: v7 }),
  )
  await logRequests.start()
  started('log requests', () => logRequests.stop())
  const previews = new Previews({ database, clock, log })
  const placementView = new PlacementView(database)
  const outlook = new Outlook({ view: placementView, tail, committer })
  started('the outlook', () => outlook.stop())
  const parts = {
    config,
    log,
    database,
    committer,
    tail,
    clock,
    newId: v7,
    feed,
    sessions,
    logRequests,
    logReaders: new LogReaders({ feed, logRequests }),
    previews,
    placementView,
    outlook,
    meter: metrics,
  }
  const returningWorkers = new ReturningWorkers(database, clock, config.leaseSeconds)
  const app: ServerContext = { ...parts, workerRefusals: new WorkerRefusals(log), returningWorkers }
  return { app, metrics }
}

/** Starts what acts without being called, and the transport. Returns the URL of the API. */
async function startActiveParts(
  app: ServerContext,
  metrics: Metrics,
  { config, log, workerProgram, env }: ServerOptions,
  started: Started,
): Promise<string> {
  const { database, tail } = app
  const { dataDirectory } = config
  await scanServices(app)
  const timers = new Timers(app)
  await timers.start()
  started('the timers', () => timers.stop())
  const placer = new Placer({ ...app, view: app.placementView })
  placer.start()
  started('placement', () => placer.stop())

  const drains = new Drains(app)
  drains.start()
  started('the drains of hosts', () => drains.stop())

  const retention = new RetentionRunner({ database, tail, log, retention: config.retention, meter: metrics })
  retention.start()
  started('retention', () => retention.stop())

  metrics.read(gaugeReaders(app))
  await ensureTokens(app)
  const http = new HttpServer(app, { users: schema, workers: workerSchema }, metrics)
  const port = await http.listen(config.host, config.port)
  started('the HTTP server', () => http.stop())
  const leases = new WorkerLeases(app)
  await leases.start()
  started('the leases of workers', () => leases.stop())
  const url = `http://${localAddress(config.host)}:${port}/graphql`
  const addressFile = path.join(dataDirectory, 'server-url')
  writeWhole(addressFile, `${url}\n`)
  started('the address file', () => rm(addressFile, { force: true }))

  if (config.localWorker) {
    const { host, stopReplicasOnExit: stopReplicas } = config
    const worker = new LocalWorker({ log, program: workerProgram, dataDirectory, stopReplicas, host, env })
    await worker.start()
    started('the local worker', () => worker.stop())
  }
  return url
}

async function ensureTokens(app: ServerContext): Promise<void> {
  const { config, log } = app
  const adminFile = path.join(config.dataDirectory, 'admin-token')
  if (await ensureToken(app.database, adminFile, { subject: 'admin', roles: ['admin'] })) {
    log.info(`An admin token is in ${path.resolve(adminFile)}: send it as "Authorization: Bearer …".`)
  }
  if (config.metrics === 'token') {
    await ensureToken(app.database, path.join(config.dataDirectory, 'metrics-token'), {
      subject: 'metrics',
      roles: ['metrics'],
    })
  }
  // The local worker uses this token, and workers on other hosts get a copy.
  await ensureToken(app.database, path.join(config.dataDirectory, 'worker-token'), {
    subject: `worker:${hostname()}`,
    roles: ['worker'],
  })
}

/** The address at which programs on this machine reach a server that listens on `host`. */
function localAddress(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
