import { expect } from 'vitest'
import type { ApiClient } from './apiClient.ts'
import type { HandWorker, Seen } from './handWorker.ts'
import { until } from './until.ts'

export interface HoldSeen {
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly since: string
  readonly until: string | null
  readonly replica: { readonly index: number } | null
}

interface RolloutSeen {
  readonly number: number
  readonly state: string
  readonly automatic: boolean
  readonly from: { readonly number: number } | null
  readonly to: { readonly number: number }
  readonly hold: HoldSeen | null
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
  readonly version: { readonly number: number; readonly sameContentAs: number | null; readonly cause: string }
  readonly rollout: RolloutSeen
  readonly blockers: readonly HoldSeen[]
}

interface RunningSeen {
  readonly id: string
  readonly index: number
  readonly state: string
  readonly start: number
  readonly ready: boolean
  readonly version: { readonly number: number }
}

/** What processes of a version do. `stays`: as it is, nothing is reported of it. */
export type Behaviour = 'ready' | 'unready' | 'exits' | 'gives up' | 'stays'

const blocker = '{ reason message count since until replica { index } }'
const rolloutFields = `number state automatic from { number } to { number } hold ${blocker} maxSurge maxUnavailable updatedReplicas availableReplicas
  oldReplicas startedAt deadlineAt`
const serviceFields = `status paused desiredReplicas activeReplicas readyReplicas availableReplicas version { number sameContentAs cause }
  rollout { ${rolloutFields} } blockers ${blocker}`
const serviceQuery = `query ($name: String!, $project: String!) { service(name: $name, project: $project) { ${serviceFields} } }`
const replicasQuery = `query ($name: String!, $project: String!) { service(name: $name, project: $project) { replicas(first: 100, filter: { states: [STARTING, RUNNING, STOPPING] }) {
  nodes { id index state start ready version { number } host { name } } } } }`
const eventsQuery =
  'query ($name: String!, $project: String!) { service(name: $name, project: $project) { events(first: 100) { nodes { message } } } }'

/**
 * The rollouts of one service, whose replicas on one host do what a test says of their version: those that are asked to stop stop, the others
 * are ready unless `behaviours` says else. Holds the limits of the rollout whenever it looks.
 */
export class HandRollout {
  readonly name: string
  readonly worker: HandWorker
  readonly behaviours = new Map<number, Behaviour>()
  /** Whether replicas that are asked to stop do so. */
  stops = true
  /** Whether fewer than the limits allow may be available, because a test itself took some. */
  lenient = false
  readonly #client: ApiClient
  readonly #key: { readonly name: string; readonly project: string }

  constructor(client: ApiClient, worker: HandWorker, name: string, project = 'default') {
    this.#key = { name, project }
    this.#client = client
    this.worker = worker
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
    expect(isOpen, 'an unfinished rollout has a hold').toBe(rollout.hold !== null)
    return service
  }

  /** A user's mutation of the service; what it is right after it. */
  async change(mutation: string, input: Record<string, unknown> = {}): Promise<ServiceSeen> {
    const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
    const document = `mutation ($input: ${type}Input!) { result: ${mutation}(input: $input) { ... on Error { code message }
      ... on ${type}Payload { service { ${serviceFields} } } } }`
    const variables = { input: { service: this.#key, ...input } }
    const { result } = await this.#client.ask<{ result: { code?: string; message?: string; service: ServiceSeen } }>(document, variables)
    if (result.code !== undefined) throw new Error(`${mutation}: ${result.code}: ${result.message}`)
    return result.service
  }

  /** Placed replicas that have not ended. */
  async replicas(): Promise<readonly (RunningSeen & { readonly host: { readonly name: string } })[]> {
    const { service } = await this.#client.ask<{
      service: { replicas: { nodes: (RunningSeen & { host: { name: string } })[] } } | null
    }>(replicasQuery, this.#key)
    return (service?.replicas.nodes ?? []).toSorted((a, b) => a.index - b.index)
  }

  /** Lets the processes on the host, at most `most` of them, do once what their version does. False: there was nothing to do. */
  async act(most = Number.POSITIVE_INFINITY): Promise<boolean> {
    const here = (await this.replicas()).filter(({ host }) => host.name === this.worker.name)
    const reports = here.flatMap((row) => this.#actOf(row)).slice(0, most)
    if (reports.length > 0) await this.worker.report(...reports)
    return reports.length > 0
  }

  /** Acts until the service is as `check` says. */
  actUntil(what: string, check: (service: ServiceSeen) => boolean, seconds = 15): Promise<ServiceSeen> {
    let last: ServiceSeen | null = null
    return until(
      async () => {
        await this.act()
        last = await this.see()
        return check(last) ? last : null
      },
      what,
      seconds,
    ).catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)}: ${JSON.stringify(last, null, 1)}`)
    })
  }

  completed(number: number): Promise<ServiceSeen> {
    return this.actUntil(`rollout ${number} is complete`, ({ rollout }) => rollout.number === number && rollout.state === 'COMPLETED')
  }

  /** Waits, with nobody acting. */
  holds(what: string, check: (service: ServiceSeen) => boolean): Promise<ServiceSeen> {
    return until(async () => {
      const seen = await this.see()
      return check(seen) ? seen : null
    }, what)
  }

  /** The events of the service, the oldest first. */
  async events(): Promise<readonly string[]> {
    const { service } = await this.#client.ask<{ service: { events: { nodes: { message: string }[] } } }>(eventsQuery, this.#key)
    return service.events.nodes.map(({ message }) => message).reverse()
  }

  /** The sentences of the rollout to `version`, the oldest first. */
  async steps(version: number): Promise<readonly string[]> {
    return (await this.events()).filter((message) => new RegExp(`^${this.name}: (rolling|paused) \\d+ → ${version}, `).test(message))
  }

  #actOf({ id: replica, start, state, ready, version }: RunningSeen): Seen[] {
    if (state === 'STOPPING') return this.stops ? [{ replica, start, state: 'ENDED', endReason: 'STOPPED' }] : []
    const behaviour = this.behaviours.get(version.number) ?? 'ready'
    switch (behaviour) {
      case 'ready':
        return ready ? [] : [{ replica, start, state: 'RUNNING', ready: true }]
      case 'unready':
        return state === 'RUNNING' ? [] : [{ replica, start, state: 'RUNNING', ready: false }]
      case 'exits':
        return [{ replica, start, state: 'ENDED', endReason: 'EXITED' }]
      case 'gives up':
        return [{ replica, start, state: 'ENDED', endReason: 'GAVE_UP' }]
      case 'stays':
        return []
    }
  }
}
