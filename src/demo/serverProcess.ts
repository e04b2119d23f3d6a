import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const serverProgram = path.join(import.meta.dirname, '..', 'server.js')
const startLimitMillis = 120_000

/** A server with an empty temporary data directory, in which its log is a file. */
export class ServerProcess {
  readonly dataDirectory: string
  readonly #child: ChildProcess
  #isTold = false

  private constructor(dataDirectory: string, child: ChildProcess) {
    this.dataDirectory = dataDirectory
    this.#child = child
  }

  static async start(): Promise<ServerProcess> {
    const dataDirectory = await mkdtemp(path.join(tmpdir(), 'xce-demo-'))
    const log = createWriteStream(path.join(dataDirectory, 'server.log'))
    await once(log, 'open')
    const child = spawn(process.execPath, [serverProgram], {
      env: {
        ...process.env,
        XCE_PORT: process.env['XCE_PORT'] ?? '0',
        XCE_DATA_DIR: dataDirectory,
        DATABASE_URL: '',
        XCE_LOCAL_WORKER: 'on',
        XCE_STOP_REPLICAS_ON_EXIT: 'on',
      },
      // The server has its own session, so that Ctrl-C reaches only the demo, which then stops the server in order.
      detached: true,
      stdio: ['ignore', log, log],
    })
    return new ServerProcess(dataDirectory, child)
  }

  get logFile(): string {
    return path.join(this.dataDirectory, 'server.log')
  }

  /** Waits until the server listens. Resolves with the URL of its API and its admin token. */
  async listening(): Promise<{ url: string; token: string }> {
    const until = performance.now() + startLimitMillis
    while (performance.now() < until) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`The server ended while it started. ${await this.#logTail()}`)
      const url = await this.#readFile('server-url')
      const token = await this.#readFile('admin-token')
      if (url && token) return { url, token }
      await pause(50)
    }
    throw new Error(`The server did not listen within ${startLimitMillis / 1000} s. ${await this.#logTail()}`)
  }

  /** Sends the server its signal to stop, once: another one would end it at once, without its worker and replicas. */
  tellToStop(): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#child.kill('SIGTERM')
  }

  /** Stops the server, its worker and all replicas in order. Removes the data directory unless `keep` is true. */
  async stop(keep: boolean): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.tellToStop()
      await once(this.#child, 'exit')
    }
    const code = this.#child.exitCode
    if (code !== 0)
      throw new Error(`The server ended with status ${code ?? this.#child.signalCode}. ${await this.#logTail()}`)
    if (keep) console.log(`The data directory is kept: ${this.dataDirectory}`)
    else await rm(this.dataDirectory, { recursive: true, force: true })
  }

  async #readFile(name: string): Promise<string> {
    return (await readFile(path.join(this.dataDirectory, name), 'utf8').catch(() => '')).trim()
  }

  async #logTail(): Promise<string> {
    const log = await readFile(this.logFile, 'utf8').catch(() => '')
    return `The end of its log (${this.logFile}):\n${log.split('\n').slice(-15).join('\n')}`
  }
}
