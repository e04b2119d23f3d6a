import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type DrainWorkerData, drainWorker, type ServiceName, type WorkerDrainData, workerDrain } from '../link/api.ts'
import type { Connection } from '../link/connection.ts'
import { payload, type Registration } from '../link/registration.ts'
import type { SessionFollower } from '../link/workerSession.ts'
import type { Supervisor } from '../process/supervisor.ts'

type DrainedService = WorkerDrainData['workerDrain']['services'][number]

/** How often the progress of a drain is checked. */
const checkMillis = 500
/** The maximum number of services in one query for the progress. */
const mostServices = 1_000

/**
 * Moves this worker's replicas before it ends (R15): the worker asks a server to drain it, and ends when its replicas have
 * ended and their services are as ready as they were. The drain uses whatever socket there is and goes on after a
 * reconnect.
 */
export class Drain implements SessionFollower {
  readonly #supervisor: Supervisor
  readonly #log: Logger
  readonly #onProgress: (progress: string) => void
  readonly #requested = new AbortController()
  readonly #moved = new AbortController()
  /** The registration under which the drain was requested; a new registration needs a new request. */
  #drainedEpoch: number | null = null
  /** How many ready replicas each service had when the drain began, for services with a ready replica here. */
  #readyBefore: ReadonlyMap<string, number> | null = null
  /** The services that had a replica here when the drain began. */
  #services: readonly ServiceName[] = []
  /** Whether the last try to connect or register failed. */
  #isAlone = false
  #lastProgress = ''

  /** `onProgress` gets sentences for people who follow the drain. */
  constructor(parts: { supervisor: Supervisor; log: Logger; onProgress: (progress: string) => void }) {
    this.#supervisor = parts.supervisor
    this.#log = parts.log
    this.#onProgress = parts.onProgress
  }

  /** Begins the drain. A repeated request goes to the servers again, because an operator may have ended the drain. */
  request(): void {
    this.#drainedEpoch = null
    this.#requested.abort()
    if (this.#isAlone) this.#announceNoServer()
  }

  unreached(): void {
    this.#isAlone = true
    if (this.#requested.signal.aborted && !this.#moved.signal.aborted) this.#announceNoServer()
  }

  /** Aborts when all replicas have moved. */
  get done(): AbortSignal {
    return this.#moved.signal
  }

  /** Drains on this socket once the drain is requested. Rejects with what ended the socket. */
  async follow(connection: Connection, registration: Registration): Promise<never> {
    this.#isAlone = false
    await aborted(this.#requested.signal)
    for (;;) {
      if (this.#readyBefore === null) await this.#recordReadyServices(connection, registration)
      else if (this.#drainedEpoch !== registration.epoch) await this.#requestDrain(connection, registration)
      else await this.#checkProgress(connection, registration)
    }
  }

  async #recordReadyServices(connection: Connection, registration: Registration): Promise<void> {
    const here = this.#supervisor.services()
    this.#services = [...here.filter(({ ready }) => ready), ...here.filter(({ ready }) => !ready)]
      .slice(0, mostServices)
      .map(({ project, name }) => ({ project, name }))
    const ready = new Set(here.flatMap((service) => (service.ready ? [nameOf(service)] : [])))
    const { services } = await this.#queryProgress(connection, registration)
    const before = services.filter((service) => ready.has(nameOf(service)))
    this.#readyBefore = new Map(before.map((service) => [nameOf(service), service.readyReplicas]))
  }

  async #requestDrain(connection: Connection, { worker, epoch, leaseSeconds }: Registration): Promise<void> {
    const answer = await connection.request<DrainWorkerData>(
      drainWorker,
      { input: { worker, epoch } },
      leaseSeconds * 1_000,
    )
    payload(answer.drainWorker)
    this.#drainedEpoch = epoch
    this.#announce('The worker is being drained: its replicas are replaced elsewhere.')
  }

  async #checkProgress(connection: Connection, registration: Registration): Promise<void> {
    const { draining, replicas, services } = await this.#queryProgress(connection, registration)
    const left = Math.max(replicas, this.#supervisor.reports().filter(({ state }) => state !== 'ENDED').length)
    const behind = services.filter((service) => service.readyReplicas < this.#requiredReady(service))
    if (left === 0 && behind.length === 0) {
      this.#announce('All replicas have moved.')
      this.#moved.abort()
    } else if (draining) {
      this.#announce(
        [
          `${left} ${left === 1 ? 'replica is' : 'replicas are'} still here`,
          ...this.#describeUnfinished(services),
        ].join('; '),
      )
    } else {
      this.#announce(
        `It is no longer being drained: ${left} still here. Drain it again, or end the worker and leave them running.`,
      )
    }
    await wait(checkMillis, undefined, { ref: false })
  }

  /** Says what each service waits for that is less ready than before or still has replicas here. */
  #describeUnfinished(services: readonly DrainedService[]): string[] {
    const here = new Set(this.#supervisor.services().map(nameOf))
    return services.flatMap((service) => {
      const [name, why, required] = [nameOf(service), service.blockers.join(' '), this.#requiredReady(service)]
      if (service.readyReplicas < required)
        return [`${name} has ${service.readyReplicas} of ${required} ready${why === '' ? '' : ` (${why})`}`]
      return here.has(name) && why !== '' ? [`${name} waits: ${why}`] : []
    })
  }

  async #queryProgress(
    connection: Connection,
    { worker, epoch, leaseSeconds }: Registration,
  ): Promise<WorkerDrainData['workerDrain']> {
    const variables = { worker, epoch, services: this.#services }
    const answer = await connection.request<WorkerDrainData>(workerDrain, variables, leaseSeconds * 1_000)
    return answer.workerDrain
  }

  /** A service needs as many ready replicas as before, unless it is to have fewer by now. */
  #requiredReady(service: DrainedService): number {
    return Math.min(service.desiredReplicas, this.#readyBefore?.get(nameOf(service)) ?? 0)
  }

  #announceNoServer(): void {
    const goes = this.#readyBefore === null ? 'begins' : 'goes on'
    this.#announce(`No server accepts the worker, whose log says why: the drain ${goes} when one does.`)
  }

  /** Logs and reports progress that has changed. */
  #announce(progress: string): void {
    if (progress === this.#lastProgress) return
    this.#lastProgress = progress
    this.#log.info(progress)
    this.#onProgress(progress)
  }
}

function nameOf({ project, name }: ServiceName): string {
  return `${project}/${name}`
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
