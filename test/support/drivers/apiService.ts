import { until } from '../fixtures/until.ts'
import type { ApiClient } from './apiClient.ts'

export interface ReplicaSeen {
  readonly id: string
  readonly index: number
  readonly state: string
  readonly start: number
  readonly ready: boolean
  readonly endReason: string | null
  readonly host: { readonly name: string } | null
}

/** What a test says of the settings of a profile. */
type GivenSettings = Readonly<Record<string, unknown>> & { readonly rollout?: Readonly<Record<string, unknown>> }

/**
 * Applies a profile with one port "http", any free, and no probe; creates a service of it. A replica is available as soon as it is ready,
 * because no test waits. Throws what is refused.
 */
export async function createService(
  client: ApiClient,
  name: string,
  replicas: number,
  { serviceDefaults, ...profile }: Record<string, unknown> & { readonly serviceDefaults?: GivenSettings } = {},
): Promise<void> {
  await change(client, 'applyProfile', 'ApplyProfileInput', {
    name,
    command: ['sleep', '1000'],
    ports: [{ name: 'http' }],
    cpuMillis: 10,
    memoryMiB: 16,
    serviceDefaults: { ...serviceDefaults, rollout: { minReadySeconds: 0, ...serviceDefaults?.rollout } },
    ...profile,
  })
  await change(client, 'createService', 'CreateServiceInput', { name, profile: name, replicas })
}

/** A user's mutation; throws when it is refused. */
export async function change(
  client: ApiClient,
  mutation: string,
  inputType: string,
  input: Record<string, unknown>,
): Promise<void> {
  const query = `mutation ($input: ${inputType}!) { result: ${mutation}(input: $input) { __typename ... on Error { code message } } }`
  const { result } = await client.ask<{ result: { __typename: string; code?: string; message?: string } }>(query, {
    input,
  })
  if (result.code !== undefined) throw new Error(`${mutation}: ${result.code}: ${result.message}`)
}

export function scale(client: ApiClient, name: string, replicas: number): Promise<void> {
  return change(client, 'scaleService', 'ScaleServiceInput', { service: { name }, replicas })
}

export function remove(client: ApiClient, name: string): Promise<void> {
  return change(client, 'deleteService', 'DeleteServiceInput', { service: { name } })
}

const replicasQuery = `query ($name: String!) { service(name: $name) {
  replicas(first: 100, filter: { states: [PENDING, STARTING, RUNNING, STOPPING] }) {
    nodes { id index state start ready endReason host { name } }
  }
} }`

/** The replicas of a service that have not ended, by index. */
export async function aliveReplicas(client: ApiClient, name: string): Promise<readonly ReplicaSeen[]> {
  const { service } = await client.ask<{ service: { replicas: { nodes: ReplicaSeen[] } } | null }>(replicasQuery, {
    name,
  })
  return (service?.replicas.nodes ?? []).toSorted((a, b) => a.index - b.index)
}

/** Waits until `count` replicas are placed on a host. */
export function placedReplicas(client: ApiClient, name: string, count: number): Promise<readonly ReplicaSeen[]> {
  return until(async () => {
    const replicas = await aliveReplicas(client, name)
    return replicas.length === count && replicas.every((replica) => replica.host !== null) ? replicas : null
  }, `${count} replicas of ${name} are placed`)
}
