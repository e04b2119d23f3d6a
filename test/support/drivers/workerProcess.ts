import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { built } from '../fixtures/built.ts'
import type { ServerProcess } from './serverProcess.ts'

/** The built worker as its users run it: a "host" of its own by name, state directory and port range, all on this machine. */
export class WorkerProcess {
  readonly name: string
  readonly #server: ServerProcess
  readonly #from: number
  readonly #env: NodeJS.ProcessEnv
  readonly #program: string
  #child: ChildProcess | null = null
  /** What stands before its command: where it runs. */
  before: readonly string[] = []
  output = ''

  /** `from`: the first of its 100 ports. `env`: over the settings of a worker that knows this server only. `program`: of another release. */
  constructor(
    server: ServerProcess,
    name: string,
    from: number,
    env: NodeJS.ProcessEnv = {},
    program = built('worker.js'),
  ) {
    this.#server = server
    this.name = name
    this.#from = from
    this.#env = env
    this.#program = program
  }

  /** `words`: of its command line. */
  start(...words: readonly string[]): void {
    const [command = '', ...rest] = [...this.before, process.execPath, this.#program, ...words]
    const child = spawn(command, rest, {
      env: {
        PATH: process.env['PATH'],
        XCE_WORKER_SERVER_FILE: this.#server.file('server-url'),
        XCE_WORKER_TOKEN_FILE: this.#server.file('admin-token'),
        XCE_WORKER_STATE_DIR: path.join(this.#server.directory, `worker-${this.name}`),
        XCE_WORKER_NAME: this.name,
        XCE_WORKER_HOST: this.name,
        XCE_WORKER_ADDRESSES: '127.0.0.1',
        XCE_WORKER_CPU_MILLIS: '64000',
        XCE_WORKER_MEMORY_MIB: '65536',
        XCE_WORKER_PORT_RANGE: `${this.#from}-${this.#from + 99}`,
        ...this.#env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (this.output += String(data)))
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#child === null) throw new Error('The worker was not started.')
    this.#child.kill(signal)
  }

  /** Its exit status when it has ended, or the signal that it died of. */
  async ended(): Promise<number | NodeJS.Signals | null> {
    const child = this.#child
    if (child === null) throw new Error('The worker was not started.')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    return child.exitCode ?? child.signalCode
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    // One that is stopped would not hear it.
    child.kill('SIGCONT')
    child.kill(signal)
    await once(child, 'exit')
  }
}
