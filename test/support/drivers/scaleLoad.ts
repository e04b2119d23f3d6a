import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Database } from '../../../src/store/database/database.ts'
import type { ApiClient } from './apiClient.ts'
import type { HandWorker, Seen } from './handWorker.ts'

interface ReplicasSeen {
  readonly service: {
    readonly replicas: {
      readonly nodes: readonly { readonly id: string; readonly state: string; readonly start: number }[]
    }
  } | null
}

/** What became of one service. */
interface Scaled {
  done: number
  replicas: number
  /** The code and the sentence of each top-level error. */
  readonly refused: string[]
}

/** Scales services to and fro as fast as the answers come, and lets a hand-driven worker report what they need. */
export class ScaleLoad {
  readonly services = new Map<string, Scaled>()
  readonly #client: ApiClient
  readonly #running: Promise<unknown>
  #isOver = false

  /** `names`: services of one replica. */
  constructor(client: ApiClient, worker: HandWorker, names: readonly string[]) {
    this.#client = client
    this.#running = Promise.all([this.#report(worker, names), ...names.map((name) => this.#scale(name))])
  }

  /** How many changes were acknowledged. */
  get done(): number {
    return [...this.services.values()].reduce((sum, { done }) => sum + done, 0)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** Each that was acknowledged was done, and once; the others were refused for the database's trouble, in a sentence. */
  async check({ prisma }: Database): Promise<void> {
    for (const [name, { done, replicas, refused }] of this.services) {
      expect(done).toBeGreaterThan(3)
      expect(
        refused.filter((sentence) => !sentence.startsWith('DATABASE_UNREACHABLE: The database does not answer')),
      ).toEqual([])
      const { id, desiredReplicas } = await prisma.service.findFirstOrThrow({ where: { heldName: name } })
      expect(desiredReplicas).toBe(replicas)
      expect(await prisma.event.count({ where: { serviceId: id, kind: 'SERVICE_SCALED' } })).toBe(done)
    }
  }

  /** What is not known to be done is sent again under its key. */
  async #scale(name: string): Promise<void> {
    const scaled: Scaled = { done: 0, replicas: 1, refused: [] }
    this.services.set(name, scaled)
    const document =
      'mutation ($input: ScaleServiceInput!) { scaleService(input: $input) { __typename ... on Error { code } } }'
    while (!this.#isOver) {
      const replicas = 1 + ((scaled.replicas + 1) % 5)
      const input = { service: { name }, replicas, idempotencyKey: `${name} ${scaled.done}` }
      for (let isDone = false; !isDone; ) {
        const { data, errors } = await this.#client.send<unknown>(document, { input })
        for (const { message, extensions } of errors) scaled.refused.push(`${extensions?.code}: ${message}`)
        isDone = errors.length === 0
        if (!isDone) await wait(20)
        else expect(data).toEqual({ scaleService: { __typename: 'ScaleServicePayload' } })
      }
      scaled.done++
      scaled.replicas = replicas
    }
  }

  async #report(worker: HandWorker, names: readonly string[]): Promise<void> {
    const query = `query ($name: String!) { service(name: $name) { replicas(filter: { states: [STARTING, STOPPING] }) { nodes { id state start } } } }`
    while (!this.#isOver) {
      for (const name of names) {
        const { data } = await this.#client.send<ReplicasSeen>(query, { name })
        const seen = (data?.service?.replicas.nodes ?? []).map(({ id: replica, state, start }): Seen => {
          if (state === 'STOPPING') return { replica, start, state: 'ENDED', endReason: 'STOPPED' }
          return { replica, start, state: 'RUNNING', ready: true }
        })
        if (seen.length > 0) await worker.report(...seen).catch(() => undefined)
      }
    }
  }
}
