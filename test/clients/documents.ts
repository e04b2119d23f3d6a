/** What the clients ask: one page of a service, and the subscriptions whose objects keep that page right in a normalised cache. */

export interface Page {
  readonly service: {
    readonly id: string
    readonly desiredReplicas: number
    readonly readyReplicas: number
    readonly endpoint: {
      readonly id: string
      readonly addresses: readonly { readonly id: string; readonly hostPort: string }[]
    }
    readonly replicas: {
      readonly nodes: readonly { readonly id: string; readonly state: string; readonly ready: boolean }[]
    }
  }
}

export const page = `query Page($service: String!) {
  service(name: $service) {
    id
    desiredReplicas
    readyReplicas
    endpoint { id addresses { id hostPort } }
    replicas(first: 10) { nodes { id state ready } }
  }
}`

export interface Scaled {
  readonly scaleService: { readonly service?: { readonly id: string; readonly desiredReplicas: number } }
}

export const scaleService = `mutation Scale($service: String!, $replicas: Int!) {
  scaleService(input: { service: { name: $service }, replicas: $replicas }) {
    ... on ScaleServicePayload { service { id desiredReplicas } }
  }
}`

export interface EndpointFrame {
  readonly endpointChanged: { readonly kind: string; readonly revision: string }
}

export const endpointChanged = `subscription Endpoint($service: String!) {
  endpointChanged(service: { name: $service }) { kind revision endpoint { id addresses { id hostPort } } }
}`

export const serviceChanged = `subscription Service($service: String!) {
  serviceChanged(service: { name: $service }) { kind service { id desiredReplicas readyReplicas } }
}`

export const replicasChanged = `subscription Replicas($service: String!) {
  replicasChanged(service: { name: $service }) { kind replicas { id state ready } }
}`
