import type { WorkerId } from '../../model/id.ts'
import type { ReplicaReport } from '../../model/intent.ts'
import { hostNameFault } from '../../model/name.ts'
import { invalidInput, type Refusal } from '../../model/refusal.ts'
import type { WatchedPort as WatchedPortValue } from '../../model/watchedPort.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { registerWorker } from '../../systems/workers/workerRegistration.ts'
import {
  findRegistration,
  keepLease,
  type RegistrationClaim,
  reportFreePorts,
  reportReplicas,
} from '../../systems/workers/workerReports.ts'
import { PortProtocol } from '../content/content.ts'
import { builder } from '../kit/builder.ts'
import { argumentIssues, checkArguments } from '../kit/check.ts'
import { hasRole, type Viewer } from '../kit/context.ts'
import { encodeGlobalId, idOf } from '../kit/globalId.ts'
import { errorOf, errorTypes } from '../kit/refusalError.ts'
import { forWorkers } from './forWorkers.ts'
import {
  AnswerLogRequestInput,
  RegisterWorkerInput,
  RenewLeaseInput,
  ReportFreePortsInput,
  type ReportInput,
  ReportReplicasInput,
  registeringOf,
  reportOf,
} from './workerInputs.ts'

// The mutations of the worker's protocol. Ids are global ids, and an id of another form is treated as an unknown one.

interface Registration {
  readonly workerId: WorkerId
  readonly epoch: number
  readonly leaseSeconds: number
  readonly graceSeconds: number
  readonly stop: readonly string[]
  readonly portsToWatch: readonly WatchedPortValue[]
}

const WatchedPort = builder.objectRef<WatchedPortValue>('WatchedPort').implement({
  description:
    'A fixed port that something else uses: the worker looks once a second whether it is free, and says so by reportFreePorts.',
  fields: (t) => ({
    port: t.exposeInt('port', { description: 'Its number.' }),
    protocol: t.field({ type: PortProtocol, description: 'TCP or UDP.', resolve: (port) => port.protocol }),
    seconds: t.exposeInt('seconds', { description: 'For how long it is watched: then its quarantine is over.' }),
  }),
})

const RegisterWorkerPayload = builder.objectRef<Registration>('RegisterWorkerPayload').implement({
  description: 'The new registration.',
  fields: (t) => ({
    worker: t.id({
      description: 'The global id of the worker, which it sends with everything from now on.',
      resolve: ({ workerId }) => encodeGlobalId('Worker', workerId),
    }),
    epoch: t.exposeInt('epoch', { description: 'The epoch, which it sends beside its id.' }),
    leaseSeconds: t.exposeInt('leaseSeconds', { description: 'Seconds within which the lease has to be renewed.' }),
    graceSeconds: t.exposeInt('graceSeconds', {
      description: 'Seconds from the end of the lease until the replicas count as lost.',
    }),
    stop: t.idList({
      description: 'Replicas that run there and should not. The worker stops them.',
      resolve: ({ stop }) => [...stop],
    }),
    portsToWatch: t.field({
      type: [WatchedPort],
      description: 'The ports of its host to watch.',
      resolve: ({ portsToWatch }) => portsToWatch,
    }),
  }),
})

const RenewLeasePayload = builder.objectRef<{ readonly resync: boolean }>('RenewLeasePayload').implement({
  description: 'The lease is renewed.',
  fields: (t) => ({
    resync: t.exposeBoolean('resync', {
      description: 'Whether the worker should report everything once, with full: true.',
    }),
  }),
})

const ReportReplicasPayload = builder
  .objectRef<{ readonly fenced: readonly string[]; readonly portsToWatch: readonly WatchedPortValue[] | null }>(
    'ReportReplicasPayload',
  )
  .implement({
    description: 'The reports were taken.',
    fields: (t) => ({
      fenced: t.idList({
        description: 'Replicas of the report that should not run there: stop them.',
        resolve: ({ fenced }) => [...fenced],
      }),
      portsToWatch: t.field({
        type: [WatchedPort],
        nullable: true,
        description: 'All ports of its host to watch, when a report is about a taken port; null: the same as before.',
        resolve: ({ portsToWatch }) => portsToWatch,
      }),
    }),
  })

const AnswerLogRequestPayload = builder.objectRef<{ readonly accepted: boolean }>('AnswerLogRequestPayload').implement({
  description: 'Whether the answer to a log request was passed on.',
  fields: (t) => ({
    accepted: t.exposeBoolean('accepted', {
      description: 'False when it is known that nobody waits for the answer any longer.',
    }),
  }),
})

const ReportFreePortsPayload = builder.objectRef<{ readonly changed: boolean }>('ReportFreePortsPayload').implement({
  description: 'The ports were taken note of.',
  fields: (t) => ({
    changed: t.exposeBoolean('changed', { description: 'Whether any of them was in quarantine.' }),
  }),
})

builder.mutationFields((t) => ({
  registerWorker: t.field({
    ...forWorkers,
    type: RegisterWorkerPayload,
    errors: {
      types: errorTypes('INVALID_INPUT', 'FORBIDDEN', 'OVERTAKEN'),
      union: { name: 'RegisterWorkerResult', description: 'What became of it.' },
    },
    description:
      'Registers a worker that starts. It gets an epoch, and the replicas that it still runs are adopted. A host may have several workers, which share its ports; the addresses and the port range that were reported last count. InvalidInputError when another worker has the name; OvertakenError when a later registration of the same state directory was taken already.',
    args: { input: t.arg({ type: RegisterWorkerInput, required: true, description: 'The worker to register.' }) },
    resolve: async (_root, args, { app, viewer }, info) => {
      const { running, ...input } = args.input
      const { leaseSeconds, graceSeconds } = app.config
      const worker = {
        ...registeringOf(input),
        subject: viewer?.subject ?? '',
        asAdmin: hasRole(viewer, 'admin'),
        leaseSeconds,
        graceSeconds,
      }
      const issues = argumentIssues(info, args)
      if (issues.length > 0) throw refused(app, worker, invalidInput(issues))
      const { reports, strangers } = partition(running)
      const outcome = await registerWorker(app, worker, reports)
      if (outcome.kind === 'refused') throw refused(app, worker, outcome.refusal)
      const { workerId, epoch, stop, portsToWatch } = outcome
      app.meter.count('registrations')
      app.log.info(
        { worker: worker.name, host: worker.host, epoch, running: running.length, stop: stop.length },
        'Worker registered',
      )
      return {
        workerId,
        epoch,
        leaseSeconds,
        graceSeconds,
        stop: [...strangers, ...stop.map((id) => encodeGlobalId('Replica', id))],
        portsToWatch,
      }
    },
  }),
  renewLease: t.field({
    ...forWorkers,
    type: RenewLeasePayload,
    errors: {
      types: errorTypes('FENCED', 'FORBIDDEN'),
      union: { name: 'RenewLeaseResult', description: 'What became of it.' },
    },
    description: 'Renews the lease of a worker.',
    args: { input: t.arg({ type: RenewLeaseInput, required: true, description: "The worker's registration." }) },
    resolve: async (_root, { input }, { app, viewer }) => {
      const outcome = await keepLease(app, claimOf(input, viewer))
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      return { resync: outcome.resync }
    },
  }),
  reportReplicas: t.field({
    ...forWorkers,
    type: ReportReplicasPayload,
    errors: {
      types: errorTypes('INVALID_INPUT', 'FENCED', 'FORBIDDEN'),
      union: { name: 'ReportReplicasResult', description: 'What became of it.' },
    },
    description: 'Takes what a worker sees of its replicas.',
    args: { input: t.arg({ type: ReportReplicasInput, required: true, description: 'The reports.' }) },
    resolve: async (_root, args, { app, viewer }, info) => {
      checkArguments(info, args)
      const { input } = args
      const { reports, strangers } = partition(input.reports)
      const outcome = await reportReplicas(app, claimOf(input, viewer), input.sequence, reports, input.full)
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      const fenced = [...strangers, ...outcome.fenced.map((id) => encodeGlobalId('Replica', id))]
      return { fenced, portsToWatch: outcome.portsToWatch }
    },
  }),
  reportFreePorts: t.field({
    ...forWorkers,
    type: ReportFreePortsPayload,
    errors: {
      types: errorTypes('INVALID_INPUT', 'FENCED', 'FORBIDDEN'),
      union: { name: 'ReportFreePortsResult', description: 'What became of it.' },
    },
    description: 'A worker sees that ports which it was told to watch are free again: their quarantine is over.',
    args: { input: t.arg({ type: ReportFreePortsInput, required: true, description: 'The ports.' }) },
    resolve: async (_root, args, { app, viewer }, info) => {
      checkArguments(info, args)
      const { input } = args
      const outcome = await reportFreePorts(app, claimOf(input, viewer), input.ports)
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      return { changed: outcome.changed }
    },
  }),
  answerLogRequest: t.field({
    ...forWorkers,
    type: AnswerLogRequestPayload,
    errors: {
      types: errorTypes('FENCED', 'FORBIDDEN'),
      union: { name: 'AnswerLogRequestResult', description: 'What became of it.' },
    },
    description: "Takes a worker's answer to a log request.",
    args: { input: t.arg({ type: AnswerLogRequestInput, required: true, description: 'The lines of the log.' }) },
    resolve: async (_root, { input }, { app, viewer }) => {
      const registration = await findRegistration(app, claimOf(input, viewer))
      if (registration.kind === 'refused') throw errorOf(registration.refusal)
      const { state, runs, starts, truncated, skippedBytes, position } = input
      return {
        accepted: app.logRequests.answer(registration.reporter.workerId, String(input.request), {
          state,
          truncated,
          skippedBytes,
          position,
          runs: runs.map((run) => ({ ...run, at: run.at?.getTime() ?? null, start: run.start ?? null })),
          starts: starts.map(({ start, at }) => ({ start, at: at.getTime() })),
        }),
      }
    },
  }),
}))

/** The log has it too, because whoever misses a host looks there. */
function refused(
  app: ServerContext,
  worker: { readonly name: string; readonly host: string; readonly subject: string },
  refusal: Refusal,
): Error {
  // The worker registers again at once, above the number in the answer.
  if (refusal.code === 'OVERTAKEN') return errorOf(refusal)
  const { name, host, subject } = worker
  // A text that is not a valid name is not logged as one.
  const named = hostNameFault(name) === null && hostNameFault(host) === null ? { worker: name, host } : {}
  const why =
    refusal.code === 'INVALID_INPUT' ? refusal.issues.map(({ message }) => message).join(' ') : refusal.message
  app.workerRefusals.tell({ ...named, subject }, why.slice(0, 1_000))
  return errorOf(refusal)
}

/** An admin may speak for any worker, but a worker's token only for the workers that it registered. */
export function claimOf(
  input: { readonly worker: string; readonly epoch: number },
  viewer: Viewer | null,
): RegistrationClaim {
  const workerId = (idOf('Worker', input.worker) ?? '') as WorkerId
  return { workerId, epoch: input.epoch, subject: hasRole(viewer, 'admin') ? null : (viewer?.subject ?? '') }
}

function partition(inputs: readonly ReportInput[]): {
  reports: readonly ReplicaReport[]
  strangers: readonly string[]
} {
  const reports: ReplicaReport[] = []
  const strangers: string[] = []
  for (const input of inputs) {
    const report = reportOf(input)
    if (report === null) strangers.push(input.replica)
    else reports.push(report)
  }
  return { reports, strangers }
}
