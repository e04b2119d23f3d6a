import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect } from 'vitest'
import { type Database, openDatabase } from '../../../src/store/database/database.ts'
import { freshPostgreSQL, silent, type TestDatabase } from '../fixtures/databases.ts'
import { freePort } from '../fixtures/freePort.ts'
import { helloProfile } from '../fixtures/hello.ts'
import { until } from '../fixtures/until.ts'
import { FactAudit } from '../models/audit/factAudit.ts'
import type { ApiClient } from './apiClient.ts'
import { createService } from './apiService.ts'
import { EndpointWatch, type WatchedAddress } from './endpointWatch.ts'
import { ServerProcess } from './serverProcess.ts'
import type { TcpProxy } from './tcpProxy.ts'
import { WorkerProcess } from './workerProcess.ts'

interface SceneOptions {
  /** On one PostgreSQL. Left out: one server, on the embedded database. */
  readonly servers?: number
  /** Of the servers. */
  readonly env?: NodeJS.ProcessEnv
  /** Between the first server and PostgreSQL. */
  readonly databaseProxy?: TcpProxy
}

interface WorkerOptions {
  readonly urls?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly before?: readonly string[]
  /** Left out: the worker's name. */
  readonly host?: string
}

/** Servers and workers as processes, the workers as hosts of their own, with a short lease and grace. */
export class HostScene {
  readonly servers: readonly ServerProcess[]
  readonly database: TestDatabase | null
  /** The server that the scene itself asks. */
  asked: ServerProcess
  readonly #workers: WorkerProcess[] = []
  readonly #watches: EndpointWatch[] = []
  #opened: Promise<Database> | null = null
  #ports = 21_000

  private constructor(servers: readonly ServerProcess[], database: TestDatabase | null) {
    this.servers = servers
    this.database = database
    this.asked = this.server
  }

  static async start(
    leaseSeconds: number,
    graceSeconds: number,
    { servers, env = {}, databaseProxy }: SceneOptions = {},
  ): Promise<HostScene> {
    const database = servers === undefined ? null : await freshPostgreSQL()
    const url = database?.options.url
    const made: ServerProcess[] = []
    for (let count = 0; count < (servers ?? 1); count++) {
      const times = { XCE_LEASE_SECONDS: String(leaseSeconds), XCE_GRACE_SECONDS: String(graceSeconds) }
      // On a port of its own for good: who was told a server's address finds it there again.
      const own = { DATABASE_URL: count === 0 ? through(url, databaseProxy) : url, XCE_PORT: String(await freePort()) }
      if (url === undefined) made.push(new ServerProcess({ ...times, ...env }))
      else made.push(new ServerProcess({ ...times, ...own, ...env }, mkdtempSync(path.join(tmpdir(), 'xce-server-'))))
    }
    const scene = new HostScene(made, database)
    // One after the other: the first makes the tokens.
    for (const server of made) await server.start()
    return scene
  }

  /** The first one. */
  get server(): ServerProcess {
    const [first] = this.servers
    if (first === undefined) throw new Error('A scene has a server.')
    return first
  }

  get client(): ApiClient {
    return this.asked.client()
  }

  /** `urls`: the servers that it knows; left out: all. `before`: stands before its command. */
  async worker(name: string, { urls, env = {}, before = [], host = name }: WorkerOptions = {}): Promise<WorkerProcess> {
    const known = urls ?? (this.database === null ? [] : this.servers.map(({ url }) => url))
    const servers = known.length === 0 ? {} : { XCE_WORKER_SERVER_FILE: '', XCE_WORKER_SERVERS: known.join(',') }
    const worker = new WorkerProcess(this.server, name, this.#ports, { ...servers, ...env })
    worker.before = before
    this.#ports += 100
    this.#workers.push(worker)
    worker.start()
    await this.becomes(host, 'REACHABLE')
    return worker
  }

  /** Of the example replica: an HTTP server on one port, any free, with a readiness probe. */
  async service(
    name: string,
    replicas: number,
    stop: Record<string, unknown> = {},
    profile: Record<string, unknown> = {},
  ): Promise<EndpointWatch> {
    await createService(
      this.client,
      name,
      replicas,
      helloProfile({ stop: { drainSeconds: 0, graceSeconds: 10, ...stop }, ...profile }),
    )
    const watch = this.watch(name)
    await watch.until(`${replicas} addresses`, (table) => table.length === replicas, 90)
    return watch
  }

  watch(name: string, client = this.client): EndpointWatch {
    const watch = new EndpointWatch(client, name)
    this.#watches.push(watch)
    return watch
  }

  becomes(host: string, reachability: string): Promise<unknown> {
    const query = 'query ($name: String!) { host(name: $name) { reachability } }'
    const client = this.client
    return until(
      async () =>
        (await client.ask<{ host: { reachability: string } | null }>(query, { name: host })).host?.reachability ===
        reachability,
      `host ${host} is ${reachability}`,
      90,
    )
  }

  /** All facts from the beginning, judged. Of an embedded database only while its server does not run. */
  async audit(): Promise<FactAudit> {
    const audit = new FactAudit(await this.open())
    expect(await audit.look()).toEqual([])
    return audit
  }

  /** The servers' database, as the test itself sees it. */
  async open(): Promise<Database> {
    this.#opened ??= this.database?.open() ?? openDatabase({ dataDirectory: this.server.directory, log: silent })
    return this.#opened
  }

  /** Ends everything; nothing may be left, no watch may have seen what it must not, and every commit must have kept the invariants. */
  async clean(failed: boolean): Promise<void> {
    if (failed) console.error(...this.servers.map(({ output }) => output), ...this.#workers.map(({ output }) => output))
    for (const watch of this.#watches) watch.close()
    // Replicas run on without a worker; here they end with the scene.
    for (const worker of this.#workers) await worker.end('SIGUSR2')
    for (const server of this.servers) await server.end()
    const audited = await this.audit().catch((error: unknown) => error)
    await (await this.#opened)?.close()
    const left: number[] = []
    // The first one's directory has the workers' state.
    for (const server of this.servers.toReversed()) left.push(...(await server.clean()))
    await this.database?.drop()
    if (failed) return
    if (audited instanceof Error) throw audited
    expect(this.#watches.flatMap(({ faults }) => faults)).toEqual([])
    expect(left).toEqual([])
  }
}

/** For the tests of a file, one scene each, which is cleaned after it. An afterEach before this one runs after the cleaning, one behind it before. */
export function hostScenes(): typeof HostScene.start {
  let scene: HostScene | undefined
  afterEach(async ({ task }) => {
    const ended = scene
    scene = undefined
    await ended?.clean(task.result?.state === 'fail')
  })
  return async (...wanted) => {
    scene = await HostScene.start(...wanted)
    return scene
  }
}

function through(url: string | undefined, proxy: TcpProxy | undefined): string | undefined {
  if (url === undefined || proxy === undefined) return url
  const changed = new URL(url)
  changed.port = String(proxy.port)
  return changed.href
}

/** Whose ports these are tells the host. */
export const portOf = ({ hostPort }: WatchedAddress): number => Number(hostPort.split(':').at(-1))

export async function pidOf({ hostPort }: WatchedAddress): Promise<number> {
  return ((await (await fetch(`http://${hostPort}/`)).json()) as { pid: number }).pid
}
