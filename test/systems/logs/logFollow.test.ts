import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ApiClient } from '../../support/drivers/apiClient.ts'
import { createService, placedReplicas, remove } from '../../support/drivers/apiService.ts'
import { LinkedWorker } from '../../support/drivers/linkedWorker.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { freshPostgreSQL, type TestDatabase } from '../../support/fixtures/databases.ts'
import { expectNothingLeft } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

// A worker with real programs in this process, and readers at the server to which it is connected or at another one.

interface Line {
  readonly stream: string
  readonly start: number
  readonly at: string
  readonly text: string
  readonly cut: boolean
}

interface Frame {
  readonly kind: string
  readonly lines: readonly Line[]
  readonly starts: readonly { readonly start: number }[]
  readonly skippedBytes: number
  readonly position: string
}

const document = `subscription ($replica: ID!, $stream: LogStream, $tailLines: Int, $after: String) {
  logAppended(replica: { id: $replica }, stream: $stream, tailLines: $tailLines, after: $after) {
    kind lines { stream start at text cut } starts { start } skippedBytes position
  }
}`

/** A reader of a log, with the frames that it has. */
class Reader {
  readonly frames: Frame[] = []
  readonly errors: string[] = []
  isOver = false
  readonly #socket: ReturnType<ApiClient['socket']>

  constructor(client: ApiClient, variables: Record<string, unknown>) {
    this.#socket = client.socket()
    readers.push(this)
    this.#socket.subscribe<{ logAppended: Frame }>(
      { query: document, variables },
      {
        next: ({ data, errors }) => {
          if (data?.logAppended !== undefined) this.frames.push(data.logAppended)
          for (const { message } of errors ?? []) this.errors.push(message)
        },
        error: (cause) => this.errors.push(JSON.stringify(cause)),
        complete: () => {
          this.isOver = true
        },
      },
    )
  }

  get texts(): string[] {
    return this.frames.flatMap(({ lines }) => lines.map(({ text }) => text))
  }

  get position(): string | undefined {
    return this.frames.at(-1)?.position
  }

  async has(...texts: string[]): Promise<void> {
    await until(() => this.texts.join() === texts.join(), `the lines ${texts}; there are ${this.texts}; ${this.errors}`)
  }

  async leave(): Promise<void> {
    await this.#socket.dispose()
  }
}

const readers: Reader[] = []

let home: TestDatabase
let servers: TestServer[] = []
let directory: string
let worker: LinkedWorker | null = null
/** What the program prints is written to this file, line by line. */
let words: string
let services = 0

function connect(server: TestServer): LinkedWorker {
  worker = new LinkedWorker({
    directory,
    token: server.client.token ?? '',
    settings: { servers: { kind: 'list', urls: [server.url.replace(/\/graphql$/, '')] } },
  })
  return worker
}

/** A service of one replica that prints what `say` says. With the word `exit` it dies, and is restarted in place. */
async function talker(server: TestServer, restart: Record<string, unknown> = {}): Promise<string> {
  const name = `talker-${++services}`
  // Its own directory remembers over a restart in place how many words were said.
  const loop =
    'n=$((n + 1)); echo $n > n; case $word in exit) kill -KILL $$;; err) echo err >&2;; *) echo "$word";; esac'
  const line = `n=0; [ ! -e n ] || read -r n < n; tail -n +$((n + 1)) -s 0.02 -f ${words} | while read -r word; do ${loop}; done`
  const command = ['sh', '-c', line]
  await createService(server.client, name, 1, { command, ports: [], restart: { delaySeconds: 0, ...restart } })
  const [replica] = await placedReplicas(server.client, name, 1)
  return replica?.id ?? ''
}

const say = (...lines: string[]) => appendFileSync(words, lines.map((line) => `${line}\n`).join(''))

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-follow-'))
  words = path.join(directory, 'words')
  appendFileSync(words, '')
})
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.leave()
  await worker?.end()
  worker = null
  await expectNothingLeft()
  rmSync(directory, { recursive: true })
})

async function stopServers(): Promise<void> {
  for (const server of servers.splice(0)) await server.stop()
}

describe('at one server, on the embedded database', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await TestServer.start()
    servers = [server]
  })
  afterAll(stopServers)

  const follow = (replica: string, wish: Record<string, unknown> = {}) =>
    new Reader(server.client, { replica, ...wish })

  test('a reader has the newest lines first and then every line, and one that comes back has what it missed', async () => {
    connect(server)
    const replica = await talker(server)
    say('a', 'b', 'c')
    const first = follow(replica, { tailLines: 2 })
    await until(async () => {
      const { replicaLog } = await server.client.ask<{ replicaLog: { lines: unknown[] } | null }>(
        'query ($id: ID!) { replicaLog(replica: { id: $id }) { lines { text } } }',
        { id: replica },
      )
      return replicaLog?.lines.length === 3
    }, 'all are printed')
    const reader = follow(replica, { tailLines: 2 })
    await reader.has('b', 'c')
    expect(reader.frames[0]).toMatchObject({ kind: 'SNAPSHOT', starts: [{ start: 1 }], skippedBytes: 0 })
    say('d', 'err')
    await reader.has('b', 'c', 'd', 'err')
    expect(reader.frames.slice(1).every(({ kind }) => kind === 'DELTA')).toBe(true)
    const { position } = reader
    await reader.leave()
    say('e')
    const again = follow(replica, { after: position })
    await again.has('e')
    expect(again.frames[0]).toMatchObject({ kind: 'DELTA', starts: [] })
    const errors = follow(replica, { stream: 'STDERR' })
    await errors.has('err')
    say('f', 'err')
    await errors.has('err', 'err')
    await again.has('e', 'f', 'err')
    await until(() => first.texts.at(-1) === 'err', 'the first one has the last line, too')
    expect(new Set(first.texts).size).toBe(first.texts.length - 1)
  })

  test('it goes on over a restart in place and a restart of the worker, and ends when the replica does', async () => {
    connect(server)
    const replica = await talker(server, { maxAttempts: 1, windowSeconds: 600 })
    const reader = follow(replica)
    say('one')
    await reader.has('one')
    say('exit')
    await until(() => reader.frames.some(({ starts }) => starts.some(({ start }) => start === 2)), 'it starts again')
    say('two')
    await reader.has('one', 'two')
    expect(reader.frames.flatMap(({ lines }) => lines.map(({ start }) => start))).toEqual([1, 2])

    await worker?.leave()
    await worker?.supervisor.close()
    say('meanwhile')
    const next = new LinkedWorker({
      directory,
      token: server.client.token ?? '',
      settings: { servers: { kind: 'list', urls: [server.url.replace(/\/graphql$/, '')] } },
    })
    worker = next
    await next.supervisor.recover()
    await reader.has('one', 'two', 'meanwhile')
    say('exit')
    await until(() => reader.isOver, 'it ends')
    expect(reader.frames.at(-1)).toMatchObject({ kind: 'GONE', lines: [] })
    expect(reader.errors).toEqual([])
    // Who comes later has all of it, and the end.
    const late = follow(replica)
    await until(() => late.isOver, 'it ends at once')
    expect([late.texts, late.frames.map(({ kind }) => kind)]).toEqual([
      ['one', 'two', 'meanwhile'],
      ['SNAPSHOT', 'GONE'],
    ])
  })

  test('while nobody reads, the worker is asked nothing', async () => {
    const asked: string[] = []
    const linked = connect(server)
    const replica = await talker(server)
    const read = linked.supervisor.readLog.bind(linked.supervisor)
    linked.supervisor.readLog = (id, question, signal) => {
      asked.push(question.after === null ? 'newest' : 'next')
      return read(id, question, signal)
    }
    const reader = follow(replica)
    say('a')
    await reader.has('a')
    await reader.leave()
    await until(() => server.app.logReaders.count === 0, 'the server has no reader')
    const before = asked.length
    for (let line = 0; line < 20; line++) say(`line ${line}`)
    // Another reader shows that these lines were seen.
    const other = follow(replica, { tailLines: 1 })
    await until(() => other.texts.at(-1) === 'line 19', 'all are printed')
    expect(asked.slice(before)[0]).toBe('newest')
  })

  test('a log that was removed is GONE, and so is one that never was', async () => {
    connect(server)
    const replica = await talker(server)
    say('a')
    await follow(replica).has('a')
    await remove(server.client, `talker-${services}`)
    await until(() => worker?.supervisor.reports().length === 0, 'it is forgotten')
    rmSync(path.join(directory, 'replicas', replica), { recursive: true })
    const reader = follow(replica)
    await until(() => reader.isOver, 'it ends')
    expect(reader.frames).toMatchObject([{ kind: 'GONE', lines: [], position: null }])
  })

  test.each([
    [{ replica: 'Replica_x' }, '"Replica_x" is no id of this API: give the id of a replica, or its service and index.'],
    [{ replica: 'Service_01890a5d-ac96-774b-bcce-b302099a8057' }, 'is the id of a Service: give the id of a replica'],
    [{ after: 'x' }, 'after is "x": give the position of a frame or of replicaLog.'],
    [{ tailLines: 10_001 }, 'tailLines is 10001: give 0 to 10000.'],
  ])('%j is refused', async (wish, message) => {
    const reader = follow('Replica_01890a5d-ac96-774b-bcce-b302099a8057', wish)
    await until(() => reader.errors[0], 'it is refused')
    expect(reader.errors[0]).toContain(message)
  })
})

describe('at two servers, on PostgreSQL', () => {
  beforeAll(async () => {
    home = await freshPostgreSQL()
    for (let each = 0; each < 2; each++)
      servers.push(
        await TestServer.start(undefined, mkdtempSync(path.join(tmpdir(), 'xce-two-')), {
          databaseUrl: home.options.url ?? '',
        }),
      )
  })
  afterAll(async () => {
    await stopServers()
    await home.drop()
  })

  test('a reader at either one has every line, and goes on at the other one', async () => {
    const [near, far] = servers
    if (near === undefined || far === undefined) throw new Error('There are two.')
    connect(near)
    const replica = await talker(near)
    const both = [near, far].map(({ client }) => new Reader(client, { replica }))
    const all: string[] = []
    for (let line = 0; line < 10; line++) {
      say(`line ${line}`)
      all.push(`line ${line}`)
      for (const reader of both) await reader.has(...all)
    }
    const moved = new Reader(near.client, { replica, after: both[1]?.position })
    say('more')
    await moved.has('more')
    for (const reader of both) await reader.has(...all, 'more')
  })
})
