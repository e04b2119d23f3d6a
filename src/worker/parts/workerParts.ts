import type { Logger } from 'pino'
import { Drain } from '../drain/drain.ts'
import { Link } from '../link/link.ts'
import { Outbox } from '../link/outbox.ts'
import { PortWatch } from '../link/portWatch.ts'
import { Supervisor, type SupervisorOptions } from '../process/supervisor.ts'
import type { WorkerSettings } from '../settings/settings.ts'

export interface WorkerPartsOptions {
  readonly settings: WorkerSettings
  readonly cgroups: SupervisorOptions['cgroups']
  readonly log: Logger
  /** What a drain says. */
  readonly onProgress: (sentence: string) => void
}

/** The parts of a worker, as the program and the tests put them together: what runs replicas, and what speaks with servers. */
export class WorkerParts {
  readonly supervisor: Supervisor
  readonly drain: Drain
  readonly #settings: WorkerSettings
  readonly #log: Logger
  readonly #outbox = new Outbox()
  readonly #portWatch = new PortWatch()

  constructor({ settings, cgroups, log, onProgress }: WorkerPartsOptions) {
    this.#settings = settings
    this.#log = log
    this.supervisor = new Supervisor({
      stateDirectory: settings.stateDirectory,
      hostAddress: settings.addresses[0] ?? null,
      cgroups,
      log,
      onReport: (report) => this.#outbox.put(report),
    })
    this.drain = new Drain({ supervisor: this.supervisor, log, onProgress })
  }

  /** Makes the link to the servers, which lasts until the signal aborts. */
  link(signal: AbortSignal, identity: { readonly softwareVersion: string; readonly stateDirectoryId: string }): Link {
    return new Link({
      ...identity,
      settings: this.#settings,
      supervisor: this.supervisor,
      outbox: this.#outbox,
      portWatch: this.#portWatch,
      drain: this.drain,
      log: this.#log,
      signal,
    })
  }

  /** Watches no more for ports that other programs hold. */
  closePortWatch(): void {
    this.#portWatch.close()
  }
}
