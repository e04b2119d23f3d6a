import { expect } from 'vitest'
import type { Rng } from '../../feed/rng.ts'
import { until } from '../fixtures/until.ts'
import type { ApiClient } from './apiClient.ts'

interface Change {
  readonly mutation: string
  readonly input: Readonly<Record<string, unknown>>
  /** What is so from its acknowledgement on. */
  readonly apply: () => void
}

interface State {
  readonly service: {
    readonly status: string
    readonly desiredReplicas: number
    readonly version: { readonly number: number }
    readonly rollout: { readonly state: string }
    readonly endpoint: { readonly addresses: readonly { readonly replicaId: string }[] }
  }
  readonly services: { readonly nodes: readonly { readonly name: string }[] }
}

const stateQuery = `{ service(name: "busy") { status desiredReplicas version { number } rollout { state } endpoint { addresses { replicaId } } }
  services(first: 100) { nodes { name } } }`

/**
 * A user's changes of the service `busy`, and of others that come and go, by a seed: each has an idempotencyKey, so that one whose answer was lost can
 * be sent again, and is done once.
 */
export class CrashHistory {
  readonly #rng: Rng
  readonly #command: readonly string[]
  #sent = 0
  #pending: Change | null = null
  // What was acknowledged.
  #desired = 3
  #version = 1
  readonly #others = new Set<string>()
  readonly #killed = new Set<string>()
  acknowledged = 0

  constructor(rng: Rng, command: readonly string[]) {
    this.#rng = rng
    this.#command = command
  }

  /** One change, acknowledged. */
  async next(client: ApiClient): Promise<void> {
    await this.choose(client)
    await this.acknowledge(client)
  }

  /** Looks what there is and chooses the next change. */
  async choose(client: ApiClient): Promise<void> {
    this.#pending = await this.#nextChange(client)
  }

  /** Sends it. Never rejects: its answer may be lost. */
  async send(client: ApiClient): Promise<void> {
    await this.#attempt(client).catch(() => undefined)
  }

  /** Sends it, unless its answer came. */
  async acknowledge(client: ApiClient): Promise<void> {
    await until(
      () => this.#pending === null || this.#attempt(client).then(() => true),
      'the change is acknowledged',
      30,
    )
  }

  /** Nothing that was acknowledged is lost, and nothing was done that was not asked for. */
  async check(client: ApiClient): Promise<void> {
    const { service, services } = await client.ask<State>(stateQuery)
    expect(service).toMatchObject({ desiredReplicas: this.#desired, version: { number: this.#version } })
    const alive = services.nodes.map(({ name }) => name).filter((name) => name.startsWith('other'))
    expect(new Set(alive)).toEqual(this.#others)
    for (const replica of this.#killed) {
      const { node } = await client.ask<{ node: { state: string } | null }>(
        'query ($id: ID!) { node(id: $id) { ... on Replica { state } } }',
        {
          id: replica,
        },
      )
      expect(['STOPPING', 'ENDED']).toContain(node?.state)
    }
  }

  /** Waits until all is as it was asked for. */
  settle(client: ApiClient): Promise<unknown> {
    return until(
      async () => {
        const { service } = await client.ask<State>(stateQuery)
        return service.status === 'HEALTHY' && service.rollout.state === 'COMPLETED'
      },
      'busy is healthy',
      120,
    )
  }

  async #attempt(client: ApiClient): Promise<void> {
    const change = this.#pending
    if (change === null) return
    const { mutation, input } = change
    const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
    const query = `mutation ($input: ${type}Input!) { result: ${mutation}(input: $input) { __typename ... on Error { code message } } }`
    const { result } = await client.ask<{ result: { __typename: string } }>(query, { input })
    // A replica that was chosen may have been asked to stop by a rollout meanwhile: it stops all the same.
    const isStopping = mutation === 'killReplica' && result.__typename === 'InvalidStateError'
    if (!isStopping) expect(result).toEqual({ __typename: `${type}Payload` })
    change.apply()
    this.acknowledged++
    this.#pending = null
  }

  async #nextChange(client: ApiClient): Promise<Change> {
    const idempotencyKey = `change ${++this.#sent}`
    const service = { name: 'busy' }
    const choice = this.#rng.below(10)
    if (choice < 4) {
      const replicas = 2 + ((this.#desired - 1 + this.#rng.below(2)) % 3)
      return {
        mutation: 'scaleService',
        input: { service, replicas, idempotencyKey },
        apply: () => {
          this.#desired = replicas
        },
      }
    }
    if (choice < 7) {
      const number = this.#version + 1
      return {
        mutation: 'updateService',
        input: { service, command: [...this.#command, `version ${number}`], idempotencyKey },
        apply: () => {
          this.#version = number
        },
      }
    }
    if (choice < 8) {
      // With another one beside it, so that somebody always answers.
      const { addresses } = (await client.ask<State>(stateQuery)).service.endpoint
      const { replicaId } = addresses.length > 1 ? this.#rng.of(addresses) : { replicaId: null }
      if (replicaId !== null)
        return {
          mutation: 'killReplica',
          input: { replica: { id: replicaId }, idempotencyKey },
          apply: () => this.#killed.add(replicaId),
        }
    }
    const [other] = this.#others
    if (other !== undefined) {
      return {
        mutation: 'deleteService',
        input: { service: { name: other }, idempotencyKey },
        apply: () => this.#others.delete(other),
      }
    }
    const name = `other-${this.#sent}`
    return {
      mutation: 'createService',
      input: { name, profile: 'busy', replicas: 0, idempotencyKey },
      apply: () => this.#others.add(name),
    }
  }
}
