import { expect } from 'vitest'
import { until } from '../fixtures/until.ts'
import type { ApiClient } from './apiClient.ts'

export interface BlockerSeen {
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly since: string
  readonly until: string | null
  readonly objects: readonly { readonly index?: number }[]
}

interface RolloutSeen {
  readonly number: number
  readonly state: string
  readonly automatic: boolean
  readonly from: { readonly number: number } | null
  readonly to: { readonly number: number }
  readonly blocker: BlockerSeen | null
  readonly maxSurge: number
  readonly maxUnavailable: number
  readonly updatedReplicas: number
  readonly availableReplicas: number
  readonly oldReplicas: number
  readonly startedAt: string
  readonly deadlineAt: string | null
}

export interface ServiceSeen {
  readonly status: string
  readonly paused: boolean
  readonly desiredReplicas: number
  readonly activeReplicas: number
  readonly readyReplicas: number
  readonly availableReplicas: number
  readonly version: { readonly number: number; readonly sameContentAs: number | null; readonly origin: string }
  readonly rollout: RolloutSeen
  readonly blockers: readonly BlockerSeen[]
}

export interface RunningSeen {
  readonly id: string
  readonly index: number
  readonly state: string
  readonly start: number
  readonly ready: boolean
  readonly version: { readonly number: number }
  readonly host: { readonly name: string }
}

const blocker = '{ reason message count since until objects { ... on Replica { index } } }'
const rolloutFields = `number state automatic from { number } to { number } blocker ${blocker} maxSurge maxUnavailable updatedReplicas availableReplicas
  oldReplicas startedAt deadlineAt`
const serviceFields = `status paused desiredReplicas activeReplicas readyReplicas availableReplicas version { number sameContentAs origin }
  rollout { ${rolloutFields} } blockers ${blocker}`
const serviceQuery = `query ($name: String!, $project: String!) { service(name: $name, project: $project) { ${serviceFields} } }`
const replicasQuery = `query ($name: String!, $project: String!) { service(name: $name, project: $project) { replicas(first: 100, filter: { states: [STARTING, RUNNING, STOPPING] }) {
  nodes { id index state start ready version { number } host { name } } } } }`
const eventsQuery =
  'query ($name: String!, $project: String!) { service(name: $name, project: $project) { events(first: 100) { nodes { message } } } }'

/** The rollouts of one service as a user sees and changes them. Holds the limits of the rollout whenever it looks. */
export class RolloutView {
  readonly name: string
  /** Whether fewer than the limits allow may be available, because a test itself took some. */
  lenient = false
  readonly #client: ApiClient
  readonly #key: { readonly name: string; readonly project: string }

  constructor(client: ApiClient, name: string, project = 'default') {
    this.#key = { name, project }
    this.#client = client
    this.name = name
  }

  /** The service as it is now. Available and active are within the limits of the rollout, once all were available. */
  async see(): Promise<ServiceSeen> {
    const { service } = await this.#client.ask<{ service: ServiceSeen }>(serviceQuery, this.#key)
    const { desiredReplicas: n, rollout } = service
    if (!this.lenient && rollout.number > 1) {
      expect(service.availableReplicas).toBeGreaterThanOrEqual(n - rollout.maxUnavailable)
      expect(service.activeReplicas).toBeLessThanOrEqual(n + rollout.maxSurge)
    }
    const isOpen = ['ROLLING', 'PAUSED', 'STALLED'].includes(rollout.state)
    expect(isOpen, 'an unfinished rollout has a blocker').toBe(rollout.blocker !== null)
    return service
  }

  /** A user's mutation of the service; what it is right after it. */
  async change(mutation: string, input: Record<string, unknown> = {}): Promise<ServiceSeen> {
    const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
    const document = `mutation ($input: ${type}Input!) { result: ${mutation}(input: $input) { ... on Error { code message }
      ... on ${type}Payload { service { ${serviceFields} } } } }`
    const variables = { input: { service: this.#key, ...input } }
    const { result } = await this.#client.ask<{ result: { code?: string; message?: string; service: ServiceSeen } }>(
      document,
      variables,
    )
    if (result.code !== undefined) throw new Error(`${mutation}: ${result.code}: ${result.message}`)
    return result.service
  }

  /** Placed replicas that have not ended. */
  async replicas(): Promise<readonly RunningSeen[]> {
    const { service } = await this.#client.ask<{
      service: { replicas: { nodes: RunningSeen[] } } | null
    }>(replicasQuery, this.#key)
    return (service?.replicas.nodes ?? []).toSorted((a, b) => a.index - b.index)
  }

  /** Looks until the service is as `check` says. */
  seen(what: string, check: (service: ServiceSeen) => boolean): Promise<ServiceSeen> {
    return this.lookUntil(what, check, async () => undefined)
  }

  /** The same, with something to be done before each look. */
  protected lookUntil(
    what: string,
    check: (service: ServiceSeen) => boolean,
    before: () => Promise<unknown>,
  ): Promise<ServiceSeen> {
    let last: ServiceSeen | null = null
    return until(async () => {
      await before()
      last = await this.see()
      return check(last) ? last : null
    }, what).catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)}: ${JSON.stringify(last, null, 1)}`)
    })
  }

  /** The events of the service, the oldest first. */
  async events(): Promise<readonly string[]> {
    const { service } = await this.#client.ask<{ service: { events: { nodes: { message: string }[] } } }>(
      eventsQuery,
      this.#key,
    )
    return service.events.nodes.map(({ message }) => message).reverse()
  }

  /** The sentences of the rollout to `version`, the oldest first. */
  async steps(version: number): Promise<readonly string[]> {
    return (await this.events()).filter((message) =>
      new RegExp(`^${this.name}: (rolling|paused) \\d+ → ${version}, `).test(message),
    )
  }
}
