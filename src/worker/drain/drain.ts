import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type DrainWorkerData, drainWorker, type ServiceName, type WorkerDrainData, workerDrain } from '../link/api.ts'
import type { Connection } from '../link/connection.ts'
import { payload, type Registration } from '../link/registration.ts'
import type { Supervisor } from '../process/supervisor.ts'

type DrainedService = WorkerDrainData['workerDrain']['services'][number]

/** How often a drain that is under way is looked at. */
const lookMillis = 500
/** The servers are asked about this many services at most. */
const mostServices = 1_000

/**
 * A worker that is to end moves its replicas first (R15): it is drained through the API, and it ends when its replicas have ended and their services
 * are as ready as they were. It is followed on whatever socket there is, and goes on after a reconnect.
 */
export class Drain {
  readonly #supervisor: Supervisor
  readonly #log: Logger
  readonly #tell: (progress: string) => void
  readonly #wanted = new AbortController()
  readonly #ended = new AbortController()
  /** The registration that was asked for it: it counts for that one only. */
  #begunIn: number | null = null
  /** Services that had a ready replica here, and how many ready replicas they had, when the drain began. */
  #before: ReadonlyMap<string, number> | null = null
  /** That had a replica here then. */
  #services: readonly ServiceName[] = []
  /** No server takes the worker, as it seems. */
  #isAlone = false
  #told = ''

  /** `tell`: for who follows the drain from outside. */
  constructor(parts: { supervisor: Supervisor; log: Logger; tell: (progress: string) => void }) {
    this.#supervisor = parts.supervisor
    this.#log = parts.log
    this.#tell = parts.tell
  }

  /** Asked again, the servers are asked again: an operator may have ended the drain meanwhile. */
  request(): void {
    this.#begunIn = null
    this.#wanted.abort()
    if (this.#isAlone) this.#sayAlone()
  }

  /** No server could be connected to, or it did not take the worker. */
  unreached(): void {
    this.#isAlone = true
    if (this.#wanted.signal.aborted && !this.#ended.signal.aborted) this.#sayAlone()
  }

  /** Aborts when everything has moved. */
  get done(): AbortSignal {
    return this.#ended.signal
  }

  /** Drains on this socket, from when it is asked to. Rejects with what ended the socket. */
  async follow(connection: Connection, registration: Registration): Promise<never> {
    this.#isAlone = false
    await aborted(this.#wanted.signal)
    for (;;) {
      if (this.#before === null) await this.#remember(connection, registration)
      else if (this.#begunIn !== registration.epoch) await this.#begin(connection, registration)
      else await this.#look(connection, registration)
    }
  }

  async #remember(connection: Connection, registration: Registration): Promise<void> {
    const here = this.#supervisor.services()
    this.#services = [...here.filter(({ ready }) => ready), ...here.filter(({ ready }) => !ready)]
      .slice(0, mostServices)
      .map(({ project, name }) => ({ project, name }))
    const ready = new Set(here.flatMap((service) => (service.ready ? [nameOf(service)] : [])))
    const { services } = await this.#ask(connection, registration)
    const before = services.filter((service) => ready.has(nameOf(service)))
    this.#before = new Map(before.map((service) => [nameOf(service), service.readyReplicas]))
  }

  async #begin(connection: Connection, { worker, epoch, leaseSeconds }: Registration): Promise<void> {
    const answer = await connection.request<DrainWorkerData>(
      drainWorker,
      { input: { worker, epoch } },
      leaseSeconds * 1_000,
    )
    payload(answer.drainWorker)
    this.#begunIn = epoch
    this.#say('The worker is drained: its replicas are replaced elsewhere.')
  }

  async #look(connection: Connection, registration: Registration): Promise<void> {
    const { isDraining, replicas, services } = await this.#ask(connection, registration)
    const left = Math.max(replicas, this.#supervisor.reports().filter(({ state }) => state !== 'ENDED').length)
    const behind = services.filter((service) => service.readyReplicas < this.#enough(service))
    if (left === 0 && behind.length === 0) {
      this.#say('All replicas have moved.')
      this.#ended.abort()
    } else if (isDraining) {
      this.#say(
        [`${left} ${left === 1 ? 'replica is' : 'replicas are'} still here`, ...this.#waiting(services)].join('; '),
      )
    } else {
      this.#say(
        `It is no longer being drained: ${left} still here. Drain it again, or end the worker and leave them running.`,
      )
    }
    await wait(lookMillis, undefined, { ref: false })
  }

  /** What services wait for that have become less ready, or have replicas here still. */
  #waiting(services: readonly DrainedService[]): string[] {
    const here = new Set(this.#supervisor.services().map(nameOf))
    return services.flatMap((service) => {
      const [name, why, enough] = [nameOf(service), service.blockers.join(' '), this.#enough(service)]
      if (service.readyReplicas < enough)
        return [`${name} has ${service.readyReplicas} of ${enough} ready${why === '' ? '' : ` (${why})`}`]
      return here.has(name) && why !== '' ? [`${name} waits: ${why}`] : []
    })
  }

  async #ask(
    connection: Connection,
    { worker, epoch, leaseSeconds }: Registration,
  ): Promise<WorkerDrainData['workerDrain']> {
    const variables = { worker, epoch, services: this.#services }
    const answer = await connection.request<WorkerDrainData>(workerDrain, variables, leaseSeconds * 1_000)
    return answer.workerDrain
  }

  /** As many ready ones as it had, unless it is to have fewer by now. */
  #enough(service: DrainedService): number {
    return Math.min(service.desiredReplicas, this.#before?.get(nameOf(service)) ?? 0)
  }

  #sayAlone(): void {
    const goes = this.#before === null ? 'begins' : 'goes on'
    this.#say(`No server takes the worker, whose log says why: the drain ${goes} when one does.`)
  }

  /** What is new, once. */
  #say(progress: string): void {
    if (progress === this.#told) return
    this.#told = progress
    this.#log.info(progress)
    this.#tell(progress)
  }
}

function nameOf({ project, name }: ServiceName): string {
  return `${project}/${name}`
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
