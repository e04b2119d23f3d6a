import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { localWorkerEnvironment, localWorkerFiles, otherSettings } from '../../config/localWorkerSettings.ts'
import { lockHolder } from '../../files/fileLock.ts'

const lookEveryMillis = 1_000
const respawnMillis = { first: 100, last: 30_000 } as const
/** A worker that lived this long did not die of a failed start. */
const steadyMillis = 60_000
const goneWithinMillis = 18_000

export interface LocalWorkerOptions {
  readonly log: Logger
  /** The path of the compiled worker program. */
  readonly program: string
  readonly dataDirectory: string
  /** Whether the worker's replicas are stopped when the server stops. */
  readonly stopReplicas: boolean
  /** The address on which the server listens. */
  readonly host: string
  /** The server's environment. */
  readonly env: NodeJS.ProcessEnv
}

/**
 * The worker of this machine, a process of its own that outlives the server. A worker that still runs from an earlier
 * server is found by the lock on its state directory; it reconnects through the file that names the server's address. A
 * worker that died is started again.
 */
export class LocalWorker {
  readonly #options: LocalWorkerOptions
  readonly #stopping = new AbortController()
  #supervision: Promise<void> | null = null
  /** The worker process that this server started last. */
  #child: ChildProcess | null = null

  constructor(options: LocalWorkerOptions) {
    this.#options = options
  }

  get #stateDirectory(): string {
    return localWorkerFiles(this.#options.dataDirectory).stateDirectory
  }

  async start(): Promise<void> {
    await mkdir(this.#stateDirectory, { recursive: true, mode: 0o700 })
    this.#supervision = this.#supervise()
  }

  /**
   * Ends the worker and waits for its end. Its replicas run on unless they are to be stopped, which takes as long as
   * their stop policies say.
   */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#supervision
    const until = performance.now() + goneWithinMillis
    const pid = await this.#listening(until)
    if (pid === null) return
    const { stopReplicas, log } = this.#options
    signal(pid, stopReplicas ? 'SIGUSR2' : 'SIGTERM')
    while ((await runningWorker(this.#stateDirectory)) === pid) {
      if (performance.now() > until) {
        log.warn({ workerPid: pid }, 'The local worker did not end in time: it goes on stopping its replicas.')
        return
      }
      await pause(20)
    }
    log.info(
      { pid },
      stopReplicas
        ? 'The local worker and its replicas have stopped.'
        : 'The local worker has stopped; its replicas run on.',
    )
  }

  /**
   * The process id of the running worker; null when none runs. A worker that was just started would not understand a
   * signal yet, so this waits until it does.
   */
  async #listening(until: number): Promise<number | null> {
    for (;;) {
      const pid = await runningWorker(this.#stateDirectory)
      if (pid !== null || !lives(this.#child) || performance.now() > until) return pid
      await pause(20)
    }
  }

  async #supervise(): Promise<void> {
    const { log } = this.#options
    const found = await runningWorker(this.#stateDirectory)
    if (found !== null) {
      log.info({ workerPid: found }, 'The local worker is still running: it reconnects.')
      const others = await otherSettings(found, this.#environment)
      if (others.length > 0) {
        log.warn(
          { workerPid: found },
          `The local worker runs on with the settings of its own start: ${others.join('; ')}. Send it SIGTERM (kill ${found}), and it is started with those of now; its replicas run on.`,
        )
      }
      await this.#untilGone()
    }
    let failures = 0
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now()
      await this.#runOnce().catch((error: unknown) =>
        log.error({ err: error }, 'The local worker could not be started.'),
      )
      if (this.#stopping.signal.aborted) return
      failures = performance.now() - startedAt > steadyMillis ? 0 : failures + 1
      const wait = Math.min(respawnMillis.first * 2 ** failures, respawnMillis.last)
      log.warn({ waitMillis: wait, workerLog: this.#logFile }, 'The local worker ended: it is started again.')
      await this.#pause(wait)
    }
  }

  get #logFile(): string {
    return localWorkerFiles(this.#options.dataDirectory).log
  }

  get #environment(): NodeJS.ProcessEnv {
    return localWorkerEnvironment(this.#options.env, this.#options)
  }

  /** Resolves when the worker has ended, or when the server stops. */
  async #runOnce(): Promise<void> {
    const { program, log } = this.#options
    // Catches what the worker prints before it has its log, and why it broke.
    const output = await open(this.#logFile, 'a', 0o600)
    try {
      if (this.#stopping.signal.aborted) return
      const child = spawn(process.execPath, [program], {
        // The worker has its own session, so that a Ctrl-C meant for the server does not reach it.
        detached: true,
        stdio: ['ignore', output.fd, output.fd],
        env: this.#environment,
      })
      this.#child = child
      child.unref()
      child.once('spawn', () =>
        log.info({ workerPid: child.pid, workerLog: this.#logFile }, 'The local worker is started.'),
      )
      await this.#ended(child)
    } finally {
      await output.close()
    }
  }

  #ended(child: ChildProcess): Promise<void> {
    const { signal } = this.#stopping
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done)
        resolve()
      }
      child.once('exit', done)
      child.once('error', (error) => {
        this.#options.log.error({ err: error }, 'The local worker could not be started.')
        done()
      })
      signal.addEventListener('abort', done)
    })
  }

  /** A worker that is not a child of this server cannot report its end to it, so its lock is checked. */
  async #untilGone(): Promise<void> {
    while (!this.#stopping.signal.aborted && (await runningWorker(this.#stateDirectory)) !== null)
      await this.#pause(lookEveryMillis)
  }

  async #pause(millis: number): Promise<void> {
    await pause(millis, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => undefined)
  }
}

/** The process id of the worker that holds the lock of a state directory; null when none does. */
async function runningWorker(stateDirectory: string): Promise<number | null> {
  return (await lockHolder(path.join(stateDirectory, 'lock')))?.pid ?? null
}

/** A worker without the lock of its state directory is either about to take it or about to end. */
function lives(child: ChildProcess | null): boolean {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process ended in this moment.
  }
}
