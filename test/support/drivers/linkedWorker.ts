import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Logger, pino } from 'pino'
import type { Drain } from '../../../src/worker/drain/drain.ts'
import { WorkerParts } from '../../../src/worker/parts/workerParts.ts'
import type { Supervisor } from '../../../src/worker/process/supervisor.ts'
import type { WorkerSettings } from '../../../src/worker/settings/settings.ts'

export interface LinkedWorkerOptions {
  /** Its state directory, which is there; its token is written to the file `token` there. */
  readonly directory: string
  readonly token: string
  readonly settings: Pick<WorkerSettings, 'servers'> & Partial<WorkerSettings>
  readonly log?: Logger
  /** What its drain says. */
  readonly tell?: (sentence: string) => void
}

/** A worker in this process, connected to servers until it is ended. */
export class LinkedWorker {
  readonly #parts: WorkerParts
  readonly #ending = new AbortController()
  readonly #running: Promise<void>

  constructor(options: LinkedWorkerOptions) {
    const { directory, token, log = pino({ level: process.env['XCE_LOG_LEVEL'] ?? 'silent' }) } = options
    const tokenFile = path.join(directory, 'token')
    writeFileSync(tokenFile, `${token}\n`)
    const settings: WorkerSettings = {
      tokenFile,
      stateDirectory: directory,
      name: 'worker-1',
      host: 'host-1',
      addresses: ['127.0.0.1'],
      cpuMillis: 2_000,
      memoryMiB: 1_024,
      portRange: { from: 20_000, to: 32_000 },
      reservedPorts: [22_222],
      logFormat: null,
      logLevel: 'silent',
      logFile: null,
      ...options.settings,
    }
    this.#parts = new WorkerParts({ settings, cgroups: null, log, onProgress: options.tell ?? (() => undefined) })
    const identity = { softwareVersion: '1.2.3', stateDirectoryId: 'the-directory' }
    this.#running = this.#parts.link(this.#ending.signal, identity).run()
  }

  get supervisor(): Supervisor {
    return this.#parts.supervisor
  }

  get drain(): Drain {
    return this.#parts.drain
  }

  /** As SIGTERM: its replicas run on. */
  leave(): Promise<void> {
    this.#ending.abort()
    return this.#running
  }

  async end(): Promise<void> {
    await this.leave()
    this.#parts.closePortWatch()
    await this.supervisor.releaseAll({ drain: false })
    await this.supervisor.close()
  }
}
