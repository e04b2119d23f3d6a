import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Logger, pino } from 'pino'
import { Drain } from '../../../src/worker/drain/drain.ts'
import { Link } from '../../../src/worker/link/link.ts'
import { Outbox } from '../../../src/worker/link/outbox.ts'
import { PortWatch } from '../../../src/worker/link/portWatch.ts'
import { Supervisor } from '../../../src/worker/process/supervisor.ts'
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
  readonly supervisor: Supervisor
  readonly drain: Drain
  readonly #portWatch = new PortWatch()
  readonly #ending = new AbortController()
  readonly #running: Promise<void>

  constructor(options: LinkedWorkerOptions) {
    const { directory, token, log = pino({ level: process.env['XCE_LOG_LEVEL'] ?? 'silent' }) } = options
    const tokenFile = path.join(directory, 'token')
    writeFileSync(tokenFile, `${token}\n`)
    const outbox = new Outbox()
    const supervisor = new Supervisor({
      stateDirectory: directory,
      hostAddress: '127.0.0.1',
      cgroups: null,
      log,
      onReport: (report) => outbox.put(report),
    })
    this.supervisor = supervisor
    this.drain = new Drain({ supervisor, log, onProgress: options.tell ?? (() => undefined) })
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
    const parts = {
      settings,
      softwareVersion: '1.2.3',
      stateDirectoryId: 'the-directory',
      supervisor,
      outbox,
      portWatch: this.#portWatch,
      drain: this.drain,
      log,
    }
    this.#running = new Link({ ...parts, signal: this.#ending.signal }).run()
  }

  /** As SIGTERM: its replicas run on. */
  leave(): Promise<void> {
    this.#ending.abort()
    return this.#running
  }

  async end(): Promise<void> {
    await this.leave()
    this.#portWatch.close()
    await this.supervisor.releaseAll({ drain: false })
    await this.supervisor.close()
  }
}
