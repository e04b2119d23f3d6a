import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../src/store/database/database.ts'
import type { Rng } from '../feed/rng.ts'
import { helloCommand, helloReadiness } from '../support/fixtures/hello.ts'
import type { Caller } from './caller.ts'
import type { Tally } from './tally.ts'

/** What the database must say of the service, by what was acknowledged. */
interface Expected {
  readonly id: string
  readonly desired: number
  readonly version: number
  readonly mark: string | null
  /** It was resumed, or never paused: it must not be. */
  readonly running: boolean
}

interface ServicePayload {
  readonly service: {
    readonly id: string
    readonly specRevision: string
    readonly version: {
      readonly number: number
      readonly env: readonly { readonly name: string; readonly value: string | null }[]
    }
  }
}

const fields = 'service { id specRevision version { number env { name value } } }'
const markName = 'SOAK_MARK'
/** By its weight each. */
const actions = {
  scale: 12,
  update: 8,
  revise: 2,
  rollback: 2,
  restart: 2,
  pause: 2,
  resume: 4,
  kill: 4,
  outOfDate: 2,
  resetBackoff: 2,
  delete: 1,
}
type Action = keyof typeof actions
const choices = Object.entries(actions).flatMap(([action, weight]) =>
  Array.from({ length: weight }, () => action as Action),
)

/** Does one service's mutations, one after the other, and holds the database to each answer. Nobody else changes this service. */
export class ServiceUser {
  readonly name: string
  readonly #caller: Caller
  readonly #database: Database
  readonly #rng: Rng
  readonly #tally: Tally
  readonly #run: string
  #expected: Expected | null = null
  #marks = 0
  #oldSpecRevision = '1'

  /** `run`: what the replicas of this run are told by. */
  constructor(name: string, run: string, caller: Caller, database: Database, rng: Rng, tally: Tally) {
    this.name = name
    this.#run = run
    this.#caller = caller
    this.#database = database
    this.#rng = rng
    this.#tally = tally
  }

  /** Until `signal`; `mostMillis` between two mutations. */
  async run(signal: AbortSignal, mostMillis: number): Promise<void> {
    await this.#applyProfile()
    while (!signal.aborted) {
      if (this.#expected === null) await this.#create()
      else await this.#act(this.#rng.of(choices))
      await this.verify()
      await wait(this.#rng.below(mostMillis), undefined, { signal }).catch(() => undefined)
    }
  }

  /** Leaves a service that can come to rest. */
  async settle(): Promise<void> {
    if (this.#expected === null) return
    await this.#act('resume')
    await this.#act('resetBackoff')
    await this.verify()
  }

  /** Compares the database with what was acknowledged. */
  async verify(): Promise<void> {
    const expected = this.#expected
    if (expected === null) return
    const { prisma } = this.#database
    const id = expected.id.slice('Service_'.length)
    const row = await prisma.service.findUnique({ where: { id } })
    const version =
      row && (await prisma.serviceVersion.findFirst({ where: { serviceId: id, number: row.versionNumber } }))
    const content = version?.content
    const is = row && {
      desired: row.desiredReplicas,
      version: row.versionNumber,
      mark: content?.env.find(({ name }) => name === markName)?.value ?? null,
      running: !row.paused,
      deleted: row.deletionRequestedAt !== null,
    }
    const { desired, version: number, mark } = expected
    const should = { desired, version: number, mark, running: expected.running || is?.running, deleted: false }
    if (JSON.stringify(is) === JSON.stringify(should)) return
    this.#tally.lost++
    this.#tally.fault(
      `${this.name}: it was acknowledged that it is ${JSON.stringify(should)}, and it is ${JSON.stringify(is)}.`,
    )
  }

  async #applyProfile(): Promise<void> {
    const rng = this.#rng
    const rollout = rng.of([
      {},
      { minReadySeconds: 1 },
      { maxSurge: 1, maxUnavailable: 1 },
      { maxSurge: 2, maxUnavailable: 0 },
      { maxSurge: 0, maxUnavailable: '50%' },
    ])
    await this.#caller.mutate({
      kind: 'apply a profile',
      mutation: 'applyProfile',
      input: {
        name: this.name,
        command: helloCommand(),
        ports: [{ name: 'http' }],
        cpuMillis: 10,
        memoryMiB: 16,
        env: [{ name: 'SOAK_RUN', value: this.#run }],
        readiness: { ...helloReadiness, timeoutSeconds: 5 },
        restart: { mode: 'ALWAYS', maxAttempts: 20, windowSeconds: 60, delaySeconds: 0 },
        stop: { drainSeconds: rng.below(2), graceSeconds: 10, onLostContact: rng.of(['KEEP', 'STOP']) },
        serviceDefaults: { rollout, backoff: { baseSeconds: 1, maxSeconds: 4, resetAfterSeconds: 20 } },
      },
      fields: 'profileRevision { id }',
    })
  }

  async #create(): Promise<void> {
    const replicas = this.#rng.below(6)
    const { code, payload } = await this.#caller.mutate<ServicePayload>({
      kind: 'create',
      mutation: 'createService',
      input: { name: this.name, profile: this.name, replicas },
      fields,
    })
    // The one before holds the name until its last replica has ended.
    if (code === null)
      this.#expected = { id: payload.service.id, desired: replicas, version: 1, mark: null, running: true }
    else this.#expect(code, 'create', ['NAME_TAKEN'])
  }

  async #act(action: Action): Promise<void> {
    switch (action) {
      case 'scale': {
        const replicas = this.#rng.below(7)
        return this.#mutate('scale', 'scaleService', { replicas }, { desired: replicas }, [])
      }
      case 'update': {
        const startPaused = this.#rng.below(8) === 0
        const replicas = this.#rng.below(3) === 0 ? this.#rng.below(7) : null
        const mark = `${++this.#marks}`
        const input = {
          env: [{ name: markName, value: mark }],
          startPaused,
          ...(replicas === null ? {} : { replicas }),
        }
        const running = startPaused ? { running: false } : {}
        return this.#mutate(
          'update',
          'updateService',
          input,
          { mark, ...running, ...(replicas === null ? {} : { desired: replicas }) },
          [],
        )
      }
      case 'revise':
        await this.#applyProfile()
        return this.#mutate(
          'update to a profile',
          'updateService',
          { profileRevision: await this.#newestRevision() },
          {},
          ['NO_CHANGE'],
        )
      case 'rollback':
        return this.#mutate('roll back', 'rollbackService', {}, {}, ['NO_CHANGE', 'INVALID_STATE', 'NOT_FOUND'])
      case 'restart':
        return this.#mutate('restart', 'restartService', {}, {}, ['INVALID_STATE'])
      case 'pause':
        return this.#mutate('pause', 'pauseRollout', {}, { running: false }, ['INVALID_STATE', 'NO_CHANGE'])
      case 'resume':
        return this.#mutate('resume', 'resumeRollout', {}, { running: true }, ['INVALID_STATE', 'NO_CHANGE'])
      case 'outOfDate':
        return this.#mutate(
          'scale out of date',
          'scaleService',
          { replicas: 50, expectedRevision: this.#oldSpecRevision },
          {},
          ['CONFLICT'],
        )
      case 'resetBackoff':
        return this.#mutate('reset backoff', 'resetBackoff', {}, {}, ['NO_CHANGE'])
      case 'kill':
        return this.#kill()
      case 'delete':
        return this.#delete()
    }
  }

  async #mutate(
    kind: string,
    mutation: string,
    input: Record<string, unknown>,
    done: Partial<Expected>,
    refusals: readonly string[],
  ): Promise<void> {
    const before = this.#expected
    if (before === null) return
    const service = { name: this.name }
    const { code, message, payload } = await this.#caller.mutate<ServicePayload>({
      kind,
      mutation,
      input: { service, ...input },
      fields,
    })
    if (code !== null) return this.#expect(code, `${kind} (${message})`, refusals)
    if (refusals.includes('CONFLICT'))
      this.#tally.fault(`${this.name}: a scale was taken that expected an old revision.`)
    const { id, version, specRevision } = payload.service
    if (id !== before.id) this.#tally.fault(`${this.name}: ${kind} answered with another service, ${id}.`)
    this.#oldSpecRevision = String(BigInt(specRevision) - 1n)
    const mark = version.env.find(({ name }) => name === markName)?.value ?? null
    const made = ['updateService', 'rollbackService', 'restartService'].includes(mutation)
    this.#expected = { ...before, ...(made ? { mark } : {}), ...done, version: before.version + (made ? 1 : 0) }
  }

  async #newestRevision(): Promise<number> {
    const query = 'query ($name: String!) { profile(name: $name) { current { revision } } }'
    return (await this.#caller.ask<{ profile: { current: { revision: number } } }>(query, { name: this.name })).profile
      .current.revision
  }

  async #kill(): Promise<void> {
    const query = `query ($name: String!) { service(name: $name) { replicas(first: 20, filter: { states: [PENDING, STARTING, RUNNING] }) { nodes { id } } } }`
    type Found = { service: { replicas: { nodes: { id: string }[] } } | null }
    const { service } = await this.#caller.ask<Found>(query, { name: this.name })
    const replicas = service?.replicas.nodes ?? []
    if (replicas.length === 0) return
    const replica = this.#rng.of(replicas).id
    const { code } = await this.#caller.mutate({
      kind: 'kill a replica',
      mutation: 'killReplica',
      input: { replica: { id: replica } },
      fields: 'replica { id }',
    })
    if (code !== null) return this.#expect(code, 'kill a replica', ['INVALID_STATE', 'NOT_FOUND'])
    const row = await this.#database.prisma.replica.findUnique({ where: { id: replica.slice('Replica_'.length) } })
    if (row === null || row.state === 'STOPPING' || row.state === 'ENDED') return
    this.#tally.lost++
    this.#tally.fault(`${this.name}: the kill of ${replica} was acknowledged, and it is ${row.state}.`)
  }

  async #delete(): Promise<void> {
    const { code } = await this.#caller.mutate({
      kind: 'delete',
      mutation: 'deleteService',
      input: { service: { name: this.name } },
      fields: 'service { id }',
    })
    if (code !== null) return this.#expect(code, 'delete', [])
    const id = this.#expected?.id.slice('Service_'.length) ?? ''
    this.#expected = null
    const row = await this.#database.prisma.service.findUnique({ where: { id } })
    if (row === null || row.deletionRequestedAt !== null) return
    this.#tally.lost++
    this.#tally.fault(`${this.name}: its deletion was acknowledged, and it is there.`)
  }

  #expect(code: string, what: string, refusals: readonly string[]): void {
    if (!refusals.includes(code)) this.#tally.fault(`${this.name}: ${what} was refused with ${code}.`)
  }
}
