import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { inject } from 'vitest'
import { built } from '../fixtures/built.ts'
import { copyTemplate } from '../fixtures/globalSetup.ts'
import { killGroup, processesWith } from '../fixtures/processes.ts'
import { until } from '../fixtures/until.ts'
import { ApiClient } from './apiClient.ts'

/** The built server as its users run it: a process on a data directory of its own, which can be started again. */
export class ServerProcess {
  readonly directory: string
  readonly #env: NodeJS.ProcessEnv
  readonly #program: string
  readonly #clients: ApiClient[] = []
  #child: ChildProcess | null = null
  output = ''

  /** `directory`: its data directory; left out: one with a migrated embedded database. `program`: of another release. */
  constructor(
    env: NodeJS.ProcessEnv = {},
    directory = copyTemplate(inject('embeddedTemplate')),
    program = built('server.js'),
  ) {
    this.#env = env
    this.#program = program
    this.directory = directory
  }

  /** Starts it, and waits until it ends or listens. */
  async start(env: NodeJS.ProcessEnv = {}): Promise<void> {
    rmSync(this.file('server-url'), { force: true })
    this.output = ''
    const child = spawn(process.execPath, [this.#program], {
      env: {
        PATH: process.env['PATH'],
        XCE_PORT: '0',
        XCE_DATA_DIR: this.directory,
        XCE_LOCAL_WORKER: 'off',
        ...this.#env,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (this.output += String(data)))
    await until(
      () => child.exitCode !== null || child.signalCode !== null || existsSync(this.file('server-url')),
      'the server listens',
      60,
    )
  }

  get child(): ChildProcess {
    if (this.#child === null) throw new Error('The server was not started.')
    return this.#child
  }

  file(name: string): string {
    return path.join(this.directory, name)
  }

  get url(): string {
    if (!existsSync(this.file('server-url'))) throw new Error(`The server does not listen. It said:\n${this.output}`)
    return readFileSync(this.file('server-url'), 'utf8').trim()
  }

  /** An admin's client of the server as it runs now. */
  client(): ApiClient {
    const client = new ApiClient(this.url, readFileSync(this.file('admin-token'), 'utf8').trim())
    this.#clients.push(client)
    return client
  }

  /** Sends a signal and waits for the end: the exit status, or the signal that it died of. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals | null> {
    const { child } = this
    if (child.exitCode === null && child.signalCode === null) {
      // One that is stopped would not hear it.
      if (signal !== 'SIGKILL') child.kill('SIGCONT')
      child.kill(signal)
      await once(child, 'exit')
    }
    return child.exitCode ?? child.signalCode
  }

  /** The worker's process id, by the lock of its state directory. */
  get workerPid(): number {
    return Number(readFileSync(this.file('worker/lock'), 'utf8'))
  }

  /** Ends everything that is left, and returns what should not have been: processes, after a stop in order. */
  async clean(): Promise<readonly number[]> {
    for (const client of this.#clients) await client.close().catch(() => undefined)
    if (this.#child !== null) await this.end()
    const left = processesWith(this.directory)
    for (const pid of left) killGroup(pid)
    rmSync(this.directory, { recursive: true, force: true })
    return left
  }
}
