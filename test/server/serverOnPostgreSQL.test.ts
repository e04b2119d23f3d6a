import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { ServerProcess } from '../support/drivers/serverProcess.ts'
import { WorkerProcess } from '../support/drivers/workerProcess.ts'
import { emptyPostgreSQL, onServer, type TestDatabase } from '../support/fixtures/databases.ts'
import { databaseUrl } from '../support/fixtures/globalSetup.ts'
import { type OwnServer, startOwnPostgreSQL } from '../support/fixtures/postgresqlServer.ts'
import { until } from '../support/fixtures/until.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

// Each starts servers as processes, some of them several.
vi.setConfig({ testTimeout: 120_000 })

async function database(): Promise<TestDatabase & { readonly url: string; readonly name: string }> {
  const made = await emptyPostgreSQL()
  ends.push(() => made.drop())
  const url = made.options.url ?? ''
  return { ...made, url, name: new URL(url).pathname.slice(1) }
}

function newServer(url: string, env: NodeJS.ProcessEnv = {}): ServerProcess {
  const made = new ServerProcess({ DATABASE_URL: url, ...env }, mkdtempSync(path.join(tmpdir(), 'xce-server-')))
  ends.push(async () => expect(await made.clean()).toEqual([]))
  return made
}

/** Of a JSON log: level and sentence of each line. */
function linesOf(server: ServerProcess): readonly { readonly level: string; readonly msg: string }[] {
  return server.output
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as { level: string; msg: string }] : []))
}

test('a data directory is one server’s: a second one is refused and touches nothing of the first, until that is killed', async () => {
  const { url } = await database()
  const first = newServer(url, { XCE_LOCAL_WORKER: 'on', XCE_WORKER_PORT_RANGE: '31000-31099' })
  await first.start()
  await until(() => existsSync(first.file('worker/lock')) && first.workerPid > 0, 'its worker runs')
  const before = ['server-url', 'admin-token', 'worker-token'].map((name) => readFileSync(first.file(name), 'utf8'))
  const { workerPid } = first

  const second = newServer(url, { XCE_DATA_DIR: first.directory, XCE_LOCAL_WORKER: 'on' })
  await second.start()
  expect(await second.end()).toBe(1)
  expect(second.output).toContain(
    `The data directory ${first.directory} is in use by the server with process id ${first.child.pid}: stop that one, or choose another XCE_DATA_DIR.`,
  )
  expect(['server-url', 'admin-token', 'worker-token'].map((name) => readFileSync(first.file(name), 'utf8'))).toEqual(
    before,
  )
  expect(first.workerPid).toBe(workerPid)

  await first.end('SIGKILL')
  const third = newServer(url, { XCE_DATA_DIR: first.directory })
  await first.start()
  await third.start()
  expect(await third.end()).toBe(1)
  expect(await first.end()).toBe(0)
})

test('one on PostgreSQL is refused in the data directory of one with an embedded database, whose tokens go on', async () => {
  const { url } = await database()
  const embedded = new ServerProcess()
  ends.push(async () => expect(await embedded.clean()).toEqual([]))
  await embedded.start()
  const client = embedded.client()
  const other = newServer(url, { XCE_DATA_DIR: embedded.directory })
  await other.start()
  expect(await other.end()).toBe(1)
  expect(other.output).toContain(
    `The data directory ${embedded.directory} is in use by the server with process id ${embedded.child.pid}`,
  )
  expect(embedded.client().token).toBe(client.token)
  expect(await client.ask('{ hosts { nodes { name } } }')).toEqual({ hosts: { nodes: [] } })
})

test('a role without rights, and tables of somebody else, are told with the database, the role and what to do', async () => {
  const { url, name } = await database()
  const role = `role_${randomUUID().slice(0, 8)}`
  await onServer(`CREATE ROLE "${role}" LOGIN PASSWORD 'secret'`)
  ends.push(() => onServer(`DROP ROLE "${role}"`))
  await onServer('REVOKE CREATE ON SCHEMA public FROM PUBLIC', url)
  const own = new URL(url)
  own.username = role
  own.password = 'secret'
  const server = newServer(own.href)
  await server.start()
  expect(await server.end()).toBe(1)
  const where = `the database "${name}" on ${own.host}`
  expect(linesOf(server).map(({ msg }) => msg)).toEqual([
    `The role "${role}" may not do in ${where} what this version needs (permission denied for schema public): let it own the database (ALTER DATABASE "${name}" OWNER TO "${role}"), or create tables in its schema public; tables that are there already must be its own.`,
  ])

  await onServer(`ALTER DATABASE "${name}" OWNER TO "${role}"`)
  await onServer('CREATE TABLE "Service" ()', url)
  await server.start()
  expect(await server.end()).toBe(1)
  expect(linesOf(server).map(({ msg }) => msg)).toEqual([
    expect.stringMatching(
      `failed and was undone: relation "Service" already exists. In ${where} somebody else has made tables: give XCE Services a database of its own`,
    ),
  ])

  await onServer('DROP TABLE "Service"', url)
  await server.start()
  expect(server.url).toMatch(/graphql$/)
  expect(await server.end()).toBe(0)
  await onServer(`REASSIGN OWNED BY "${role}" TO CURRENT_USER`, url)
  await onServer(`DROP OWNED BY "${role}"`, url)
  await onServer(`ALTER DATABASE "${name}" OWNER TO CURRENT_USER`)
})

test('a database that goes away is told once, and once when it is back; a stop meanwhile says that it does no harm', async () => {
  const own: OwnServer = await startOwnPostgreSQL()
  ends.push(() => own.stop())
  const server = newServer(databaseUrl(own.url, 'postgres'), { XCE_LEASE_SECONDS: '2', XCE_GRACE_SECONDS: '60' })
  await server.start()
  const worker = new WorkerProcess(server, 'away', 31_100)
  ends.push(() => worker.end())
  worker.start()
  await until(() => worker.output.includes('registered') || worker.output.includes('connected'), 'the worker is there')
  const url = new URL(own.url)
  const where = `the database "postgres" on ${url.host}`
  const told = () => linesOf(server).filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))
  const gone = () => told().filter(({ msg }) => msg.startsWith(`The database does not answer: ${where} (`))
  const back = () => linesOf(server).filter(({ msg }) => msg.startsWith('The database answers again'))

  await own.shutDown('INT')
  await until(() => gone().length === 1, 'it is told')
  const refusals = Array.from({ length: 5 }, () => server.client().send('{ hosts { nodes { name } } }'))
  expect((await Promise.all(refusals)).map(({ status }) => status)).toEqual([503, 503, 503, 503, 503])
  await own.startAgain()
  await until(() => back().length === 1, 'it is told that it is back')
  expect(back()[0]?.msg).toMatch(new RegExp(`^The database answers again, after \\d+ s: ${where}\\.$`))
  await until(async () => (await fetch(new URL('/readyz', server.url))).status === 200, 'the server is ready')

  await own.shutDown('INT')
  await until(() => gone().length === 2, 'it is told again')
  expect(await server.end()).toBe(0)
  const sentences = told().map(({ msg }) => msg)
  expect(sentences).toContain(
    'The database did not take note of a stop: placement. That does no harm: what it keeps for this server expires.',
  )
  const known = /^The database (does not answer|did not take note of a stop): |every lease starts again/
  expect(sentences.filter((sentence) => !known.test(sentence))).toEqual([])
  expect(server.output).not.toContain('"stack"')
})
