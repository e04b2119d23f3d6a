import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { openDatabase } from '../../../src/store/database/database.ts'
import { Rng } from '../../feed/rng.ts'
import { freshPostgreSQL, silent, type TestDatabase } from '../fixtures/databases.ts'
import { helloCommand, helloReadiness } from '../fixtures/hello.ts'
import { processesWith } from '../fixtures/processes.ts'
import { until } from '../fixtures/until.ts'
import { FactAudit } from '../models/audit/factAudit.ts'
import type { ApiClient } from './apiClient.ts'
import { createService } from './apiService.ts'
import { CrashHistory } from './crashHistory.ts'
import { EndpointWatch, type WatchedAddress } from './endpointWatch.ts'
import { Requests } from './requests.ts'
import { ServerProcess } from './serverProcess.ts'
import { WorkerProcess } from './workerProcess.ts'

export type Victim = 'server' | 'worker'

export interface CrashStoryOptions {
  readonly database: 'embedded' | 'PostgreSQL'
  /** Who is killed with SIGKILL, one after the other; who supervises it starts it again. */
  readonly kills: readonly Victim[]
  readonly seed: number
}

/** The longest that a kill waits after a change was sent: it comes before, in or after its commit, and what follows from it. */
const mostMillis = 60
const probed = { command: helloCommand(), readiness: helloReadiness }

/**
 * A server and a worker as processes, on a history by the seed, in which they are killed again and again: every kill while a change is on its
 * way. Two services: `steady` is never changed, `busy` all the time. Clients request the ports of the one and the newest table of the other
 * without a pause. Throws what was not as it should be.
 */
export class CrashStory {
  readonly #options: CrashStoryOptions
  readonly #rng: Rng
  readonly #database: TestDatabase | null
  readonly #server: ServerProcess
  readonly #worker: WorkerProcess
  readonly #watches: EndpointWatch[] = []
  readonly #history: CrashHistory
  #requests: Requests | null = null
  /** What serves `steady`, and must serve it to the end. */
  #steady: readonly WatchedAddress[] = []
  #pids: readonly number[] = []

  private constructor(options: CrashStoryOptions, database: TestDatabase | null) {
    this.#options = options
    this.#rng = new Rng(options.seed)
    this.#database = database
    const url = database?.options.url
    this.#server = new ServerProcess(url === undefined ? {} : { DATABASE_URL: url })
    this.#worker = new WorkerProcess(this.#server, 'crash', 22_000 + (options.seed % 90) * 100)
    this.#history = new CrashHistory(this.#rng.fork(), probed.command)
  }

  static async tell(options: CrashStoryOptions): Promise<void> {
    const story = new CrashStory(options, options.database === 'PostgreSQL' ? await freshPostgreSQL() : null)
    try {
      await story.#run()
    } catch (error) {
      throw new Error(`seed ${options.seed}: ${error instanceof Error ? error.stack : String(error)}\n${story.#said}`)
    } finally {
      await story.#clean()
    }
  }

  /** A directory for each, by its id. */
  get #replicas(): string {
    return this.#server.file('worker-crash/replicas')
  }

  get #said(): string {
    return `The server said:\n${this.#server.output.slice(-5_000)}\nThe worker said:\n${this.#worker.output.slice(-5_000)}`
  }

  async #run(): Promise<void> {
    await this.#server.start()
    this.#worker.start()
    const client = this.#server.client()
    await createService(client, 'steady', 2, probed)
    // So long does a replica that leaves serve on: longer than a server takes to be back and to tell.
    await createService(client, 'busy', 3, { ...probed, stop: { drainSeconds: 30 } })
    const [steady, busy] = ['steady', 'busy'].map((name) => this.#watch(client, name))
    this.#steady = (await steady?.until('steady serves', (table) => table.length === 2)) ?? []
    await busy?.until('busy serves', (table) => table.length === 3)
    this.#pids = await Promise.all(this.#steady.map(pidOf))
    this.#requests = new Requests(() => [...this.#steady, ...(busy?.table ?? [])])
    for (const [index, victim] of this.#options.kills.entries()) {
      for (let changes = this.#rng.below(3); changes > 0; changes--) await this.#history.next(this.#server.client())
      await this.#crash(victim)
      await this.#check()
      if (index % 5 === 4) await this.#settle()
    }
    await this.#settle()
    await this.#requests.stop()
    expect(this.#requests.failures).toEqual([])
    expect(this.#requests.answered).toBeGreaterThan(100)
    for (const watch of this.#watches) {
      watch.close()
      expect(watch.faults).toEqual([])
    }
    await this.#server.end()
    await this.#audit()
  }

  /** Kills while a change is on its way. What was not acknowledged is sent again under its key. */
  async #crash(victim: Victim): Promise<void> {
    await this.#history.choose(this.#server.client())
    const sent = this.#history.send(this.#server.client())
    await wait(this.#rng.below(mostMillis))
    if (victim === 'worker') {
      await this.#worker.end('SIGKILL')
      this.#worker.start()
    } else {
      await this.#server.end('SIGKILL')
      await this.#server.start()
      const client = this.#server.client()
      for (const watch of this.#watches) watch.resumeOn(client)
    }
    await sent
    await this.#history.acknowledge(this.#server.client())
  }

  /** What must hold at any time. */
  async #check(): Promise<void> {
    await this.#history.check(this.#server.client())
    expect(await Promise.all(this.#steady.map(pidOf)), 'the same processes serve').toEqual(this.#pids)
    expect(await this.#startedTwice()).toEqual([])
    expect(this.#requests?.failures).toEqual([])
  }

  /** What is so in the end: the table is that of the ready replicas, who are who it says. */
  async #settle(): Promise<void> {
    const client = this.#server.client()
    await this.#history.settle(client)
    for (const [index, name] of ['steady', 'busy'].entries()) {
      const query = `query ($name: String!) { service(name: $name) { endpoint { addresses { id replicaId index start hostPort } }
        replicas(first: 100, filter: { ready: true }) { nodes { id index start } } } }`
      interface Seen {
        readonly service: {
          readonly endpoint: { readonly addresses: readonly WatchedAddress[] }
          readonly replicas: {
            readonly nodes: readonly { readonly id: string; readonly index: number; readonly start: number }[]
          }
        }
      }
      const { service } = await client.ask<Seen>(query, { name })
      const { addresses } = service.endpoint
      const shown = addresses.map(({ replicaId: id, index: at, start }) => ({ id, index: at, start }))
      expect(shown.toSorted(byIndex)).toEqual(service.replicas.nodes.toSorted(byIndex))
      await this.#watches[index]?.until(`the watch of ${name} has it`, (table) => sameTable(table, addresses))
      for (const address of addresses)
        expect(await ask(address)).toMatchObject({ replica: address.replicaId, index: address.index })
    }
  }

  /** Each replica says in its log when it listens: as often as it was started, or not yet. */
  async #startedTwice(): Promise<readonly string[]> {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Replica { id start } } }'
    const ids = readdirSync(this.#replicas)
    const { nodes } = await this.#server
      .client()
      .ask<{ nodes: ({ id: string; start: number } | null)[] }>(query, { ids })
    return nodes.flatMap((node) => {
      const log = `${this.#replicas}/${node?.id}/stdout.log`
      const said = existsSync(log) ? readFileSync(log, 'utf8').split('listens on port').length - 1 : 0
      return node !== null && said > node.start
        ? [`${node.id} was started ${said} times, and should ${node.start} times`]
        : []
    })
  }

  #watch(client: ApiClient, name: string): EndpointWatch {
    const watch = new EndpointWatch(client, name)
    this.#watches.push(watch)
    return watch
  }

  async #audit(): Promise<void> {
    const directory = { dataDirectory: this.#server.directory, log: silent }
    const database = await (this.#database?.open() ?? openDatabase(directory))
    try {
      expect(await new FactAudit(database).look()).toEqual([])
    } finally {
      await database.close()
    }
  }

  async #clean(): Promise<void> {
    await this.#requests?.stop()
    for (const watch of this.#watches) watch.close()
    await this.#worker.end('SIGKILL')
    // The replicas outlive their worker, as they should: each is a session, whose leader names the state directory.
    const replicas = existsSync(this.#replicas) ? readdirSync(this.#replicas) : []
    for (const leader of processesWith(this.#replicas)) endGroup(leader)
    await until(() => processesWith(...replicas, this.#replicas).length === 0, 'all replicas have ended')
    await this.#server.clean()
    await this.#database?.drop()
  }
}

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // It is none, or has just ended.
  }
}

interface Answer {
  readonly replica: string
  readonly index: number
  readonly pid: number
}

async function ask({ hostPort }: WatchedAddress): Promise<Answer> {
  return (await (await fetch(`http://${hostPort}/`)).json()) as Answer
}

const pidOf = async (address: WatchedAddress) => (await ask(address)).pid
const byIndex = (a: { readonly index: number }, b: { readonly index: number }) => a.index - b.index
const sameTable = (one: readonly WatchedAddress[], other: readonly WatchedAddress[]) =>
  JSON.stringify(one.map(({ id }) => id).toSorted()) === JSON.stringify(other.map(({ id }) => id).toSorted())
