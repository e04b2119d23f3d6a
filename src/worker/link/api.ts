import type { Probe, ProbeAction } from '../../model/content.ts'
import type { LogQuestion } from '../../model/replicaLog.ts'
import type { WatchedPort } from '../../model/watchedPort.ts'
import type { RegisteringWorker } from '../../model/workerOffer.ts'
import type { Assignment, Report } from '../assignment.ts'

/** The GraphQL documents that the worker sends, and the shapes of their answers. The worker uses nothing else of the API. */

export const registerWorker = /* GraphQL */ `
  mutation RegisterWorker($input: RegisterWorkerInput!) {
    registerWorker(input: $input) {
      __typename
      ... on RegisterWorkerPayload { epoch leaseSeconds graceSeconds stop worker portsToWatch { port protocol seconds } }
      ... on InvalidInputError { issues { message } }
      ... on OvertakenError { newest }
      ... on Error { code message }
    }
  }
`

export const renewLease = /* GraphQL */ `
  mutation RenewLease($input: RenewLeaseInput!) {
    renewLease(input: $input) {
      __typename
      ... on RenewLeasePayload { resync }
      ... on Error { code message }
    }
  }
`

export const reportReplicas = /* GraphQL */ `
  mutation ReportReplicas($input: ReportReplicasInput!) {
    reportReplicas(input: $input) {
      __typename
      ... on ReportReplicasPayload { fenced portsToWatch { port protocol seconds } }
      ... on Error { code message }
    }
  }
`

export const reportFreePorts = /* GraphQL */ `
  mutation ReportFreePorts($input: ReportFreePortsInput!) {
    reportFreePorts(input: $input) {
      __typename
      ... on ReportFreePortsPayload { changed }
      ... on Error { code message }
    }
  }
`

export const answerLogRequest = /* GraphQL */ `
  mutation AnswerLogRequest($input: AnswerLogRequestInput!) {
    answerLogRequest(input: $input) {
      __typename
      ... on AnswerLogRequestPayload { accepted }
      ... on Error { code message }
    }
  }
`

export const drainWorker = /* GraphQL */ `
  mutation DrainWorker($input: DrainWorkerInput!) {
    drainWorker(input: $input) {
      __typename
      ... on Error { code message }
    }
  }
`

export const endWorker = /* GraphQL */ `
  mutation EndWorker($input: EndWorkerInput!) {
    endWorker(input: $input) {
      __typename
      ... on Error { code message }
    }
  }
`

export const workerDrain = /* GraphQL */ `
  query WorkerDrain($worker: ID!, $epoch: Int!, $services: [ServiceKey!]!) {
    workerDrain(worker: $worker, epoch: $epoch, services: $services) {
      draining replicas
      services { project name desiredReplicas readyReplicas blockers }
    }
  }
`

const probe = /* GraphQL */ `{
  http { port path scheme headers { name value } } tcp { port } exec { command }
  initialDelaySeconds periodSeconds timeoutSeconds failureThreshold successThreshold
}`

export const assignmentsChanged = /* GraphQL */ `
  subscription AssignmentsChanged($worker: ID!, $epoch: Int!) {
    assignmentsChanged(worker: $worker, epoch: $epoch) {
      kind revision last removed
      logRequests { id replica stream start since tailLines maxBytes after waitSeconds }
      assignments {
        replica goal service project index versionNumber command workingDirectory cpuMillis memoryMiB
        env { name value }
        ports { name port protocol }
        startup ${probe}
        readiness ${probe}
        liveness ${probe}
        restart { mode maxAttempts windowSeconds delaySeconds }
        stop { signal drainSeconds graceSeconds onLostContact }
      }
    }
  }
`

export interface RegisterWorkerInput extends RegisteringWorker {
  /** Every replica that this worker knows, also ended ones of which no server knows yet, which would else count as lost. */
  readonly running: readonly Report[]
}

/** An error that a mutation returns as a part of its result. */
export interface Failure {
  readonly __typename: 'FencedError' | 'ForbiddenError' | 'InvalidInputError' | 'OvertakenError'
  readonly code: string
  readonly message: string
  readonly issues?: readonly { readonly message: string }[]
  /** OvertakenError only: the number that the next registration has to exceed. */
  readonly newest?: number
}

export interface RegisterWorkerData {
  readonly registerWorker:
    | {
        readonly __typename: 'RegisterWorkerPayload'
        readonly worker: string
        readonly epoch: number
        readonly leaseSeconds: number
        readonly graceSeconds: number
        /** The replicas that no longer belong to this worker. */
        readonly stop: readonly string[]
        readonly portsToWatch: readonly WatchedPort[]
      }
    | Failure
}

export interface RenewLeaseData {
  readonly renewLease: { readonly __typename: 'RenewLeasePayload'; readonly resync: boolean } | Failure
}

export interface ReportReplicasData {
  readonly reportReplicas:
    | {
        readonly __typename: 'ReportReplicasPayload'
        readonly fenced: readonly string[]
        /** Null: the same as before. */
        readonly portsToWatch: readonly WatchedPort[] | null
      }
    | Failure
}

export interface ReportFreePortsData {
  readonly reportFreePorts: { readonly __typename: 'ReportFreePortsPayload'; readonly changed: boolean } | Failure
}

export interface AnswerLogRequestData {
  readonly answerLogRequest: { readonly __typename: 'AnswerLogRequestPayload'; readonly accepted: boolean } | Failure
}

export interface DrainWorkerData {
  readonly drainWorker: { readonly __typename: 'DrainWorkerPayload' } | Failure
}

export interface EndWorkerData {
  readonly endWorker: { readonly __typename: 'EndWorkerPayload' } | Failure
}

export interface ServiceName {
  readonly project: string
  readonly name: string
}

export interface WorkerDrainData {
  readonly workerDrain: {
    /** False after an operator ended the drain. */
    readonly draining: boolean
    /** The number of the worker's replicas that have not ended. */
    readonly replicas: number
    /** The services of the query that are not deleted. */
    readonly services: readonly (ServiceName & {
      readonly desiredReplicas: number
      readonly readyReplicas: number
      readonly blockers: readonly string[]
    })[]
  }
}

export interface LogRequest extends Omit<LogQuestion, 'since'> {
  readonly id: string
  readonly replica: string
  readonly since: string | null
}

export interface AssignmentsChangedData {
  readonly assignmentsChanged: {
    readonly kind: 'SNAPSHOT' | 'DELTA' | 'BOOKMARK' | 'GONE'
    readonly revision: string
    readonly last: boolean
    readonly assignments: readonly WireAssignment[]
    readonly removed: readonly string[]
    readonly logRequests: readonly LogRequest[]
  }
}

type ActionOf<Kind extends ProbeAction['kind']> = Omit<Extract<ProbeAction, { kind: Kind }>, 'kind'>

/** One of the three actions is not null. */
export type WireProbe = Omit<Probe, 'action'> & {
  readonly [Kind in ProbeAction['kind']]: ActionOf<Kind> | null
}

export type WireAssignment = Omit<Assignment, 'startup' | 'readiness' | 'liveness'> & {
  readonly startup: WireProbe | null
  readonly readiness: WireProbe | null
  readonly liveness: WireProbe | null
}

export function assignmentFromWire(wire: WireAssignment): Assignment {
  const { startup, readiness, liveness } = wire
  return {
    ...wire,
    startup: probeFromWire(startup),
    readiness: probeFromWire(readiness),
    liveness: probeFromWire(liveness),
  }
}

function probeFromWire(wire: WireProbe | null): Probe | null {
  if (wire === null) return null
  const { http, tcp, exec, ...times } = wire
  return { ...times, action: actionFromWire({ http, tcp, exec }) }
}

function actionFromWire({ http, tcp, exec }: Pick<WireProbe, ProbeAction['kind']>): ProbeAction {
  if (http !== null) return { kind: 'http', ...http }
  if (tcp !== null) return { kind: 'tcp', ...tcp }
  if (exec !== null) return { kind: 'exec', ...exec }
  throw new Error('The server sent a probe that does nothing: it has neither http nor tcp nor exec.')
}
