import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Logger } from 'pino'
import { inject } from 'vitest'
import { readConfig } from '../../../src/config/config.ts'
import { type QuietServer, type RunningServer, startQuietServer, startServer } from '../../../src/server/compose.ts'
import type { ServerContext } from '../../../src/systems/serverContext.ts'
import { silent, type TestDatabase } from '../fixtures/databases.ts'
import { copyTemplate } from '../fixtures/globalSetup.ts'
import { ApiClient } from './apiClient.ts'
import { HandWorker } from './handWorker.ts'

export interface TestServerOptions {
  /** A PostgreSQL database; left out: the embedded one. */
  readonly databaseUrl?: string
  /** Left out: a test sees no BOOKMARK, however long it takes. */
  readonly bookmarkMillis?: number
  /** Over the settings of a server for tests, whose leases are long: hand-driven workers renew none. */
  readonly env?: NodeJS.ProcessEnv
}

/** Starts a server without timers, placement and transport in this process, for tests that call its context. */
export async function quietServer({ kind, options }: TestDatabase): Promise<QuietServer> {
  // Beside PostgreSQL's a server has a directory of its own, which no other server uses.
  const directory = kind === 'embedded' ? options.dataDirectory : mkdtempSync(path.join(tmpdir(), 'xce-test-'))
  const { config } = readConfig({ XCE_DATA_DIR: directory, DATABASE_URL: options.url ?? '' })
  const server = await startQuietServer({ config, log: silent })
  return {
    app: server.app,
    stop: async () => {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A whole server in this process, on an embedded database of its own and a port of its own, without a worker. */
export class TestServer {
  readonly app: ServerContext
  readonly url: string
  readonly client: ApiClient
  readonly #server: RunningServer
  readonly #directory: string

  private constructor(server: RunningServer, directory: string) {
    this.#server = server
    this.#directory = directory
    this.app = server.app
    this.url = server.url
    this.client = new ApiClient(server.url, readFileSync(path.join(directory, 'admin-token'), 'utf8').trim())
  }

  /** `directory`: of a server that was stopped and kept. */
  static async start(
    log = silent,
    directory = copyTemplate(inject('embeddedTemplate')),
    { databaseUrl = '', env = {}, bookmarkMillis = 86_400_000 }: TestServerOptions = {},
  ): Promise<TestServer> {
    const { config } = readConfig({
      XCE_PORT: '0',
      XCE_DATA_DIR: directory,
      XCE_LOCAL_WORKER: 'off',
      DATABASE_URL: databaseUrl,
      XCE_LEASE_SECONDS: '3600',
      // fetch keeps a connection for as long as the server says, and some tests wait until nothing is open.
      XCE_KEEP_ALIVE_SECONDS: '5',
      ...env,
    })
    return new TestServer(await startServer({ config, log, workerProgram: '', env: {}, bookmarkMillis }), directory)
  }

  /** And a worker that is registered there, driven by hand. */
  static async withWorker(
    name?: string,
    { log, ...options }: TestServerOptions & { readonly log?: Logger } = {},
  ): Promise<{ server: TestServer; worker: HandWorker }> {
    const server = await TestServer.start(log, undefined, options)
    const worker = new HandWorker(server.client, name)
    await worker.register()
    return { server, worker }
  }

  /** The address of another path of the server. */
  at(pathname: string): string {
    return new URL(pathname, this.url).href
  }

  async stop(): Promise<void> {
    await this.keep()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  /** Stops the server and keeps its data directory, for the next one. */
  async keep(): Promise<string> {
    await this.client.close()
    await this.#server.stop()
    return this.#directory
  }
}
