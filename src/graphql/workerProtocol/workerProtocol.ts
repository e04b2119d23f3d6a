import type { WorkerId } from '../../model/id.ts'
import type { ReplicaReport } from '../../model/intent.ts'
import { hostNameFault } from '../../model/name.ts'
import { invalidInput, type Refusal } from '../../model/refusal.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { registerWorker } from '../../systems/workers/workerRegistration.ts'
import {
  findRegistration,
  keepLease,
  type RegistrationClaim,
  reportReplicas,
} from '../../systems/workers/workerReports.ts'
import { builder } from '../kit/builder.ts'
import { argumentIssues, checkArguments } from '../kit/check.ts'
import { hasRole, type Viewer } from '../kit/context.ts'
import { encodeGlobalId, idOf } from '../kit/globalId.ts'
import { errorOf, errorTypes } from '../kit/refusalError.ts'
import { Worker } from '../worker/worker.ts'
import {
  AnswerLogRequestInput,
  RegisterWorkerInput,
  RenewLeaseInput,
  type ReportInput,
  ReportReplicasInput,
  registeringOf,
  reportOf,
} from './workerInputs.ts'

// The mutations of the worker's protocol. Where the workers' own ids are global ids, an id of another shape is one that nobody knows.

interface Registration {
  readonly workerId: WorkerId
  readonly epoch: number
  readonly leaseSeconds: number
  readonly graceSeconds: number
  readonly stop: readonly string[]
}

const RegisterWorkerPayload = builder.objectRef<Registration>('RegisterWorkerPayload').implement({
  description: 'A registration.',
  fields: (t) => ({
    worker: t.field({
      type: Worker,
      description: 'The worker.',
      resolve: ({ workerId }, _args, { rows }) => rows.require('Worker', workerId),
    }),
    epoch: t.exposeInt('epoch', { description: 'Named in everything that the worker says from now on.' }),
    leaseSeconds: t.exposeInt('leaseSeconds', { description: 'Seconds within which the lease has to be renewed.' }),
    graceSeconds: t.exposeInt('graceSeconds', {
      description: 'Seconds after the lease, before the replicas count as lost.',
    }),
    stop: t.idList({
      description: 'Replicas that run there and should not: stop them.',
      resolve: ({ stop }) => [...stop],
    }),
  }),
})

const RenewLeasePayload = builder.objectRef<{ readonly resync: boolean }>('RenewLeasePayload').implement({
  description: 'The lease goes on.',
  fields: (t) => ({
    resync: t.exposeBoolean('resync', {
      description: 'Whether the worker should report everything once (full: true).',
    }),
  }),
})

const ReportReplicasPayload = builder
  .objectRef<{ readonly fenced: readonly string[] }>('ReportReplicasPayload')
  .implement({
    description: 'The reports were taken.',
    fields: (t) => ({
      fenced: t.idList({
        description: 'Replicas of the report that should not run there: stop them.',
        resolve: ({ fenced }) => [...fenced],
      }),
    }),
  })

const AnswerLogRequestPayload = builder.objectRef<{ readonly accepted: boolean }>('AnswerLogRequestPayload').implement({
  description: 'The answer to a log request was passed on, or not.',
  fields: (t) => ({ accepted: t.exposeBoolean('accepted', { description: 'False: nobody waits for it any more.' }) }),
})

const forWorkers = { skipTypeScopes: true, authScopes: { worker: true } } as const

builder.mutationFields((t) => ({
  registerWorker: t.field({
    ...forWorkers,
    type: RegisterWorkerPayload,
    errors: {
      types: errorTypes('INVALID_INPUT', 'FORBIDDEN', 'OVERTAKEN'),
      union: { name: 'RegisterWorkerResult', description: 'What became of it.' },
    },
    description:
      'A worker starts: it gets an epoch, and what it still runs is adopted. A host may have several workers, which share its ports: the addresses and the port range that were told last count. Where another worker has the name, InvalidInputError; where a later one of its state directory was taken already, OvertakenError.',
    args: { input: t.arg({ type: RegisterWorkerInput, required: true, description: 'The worker.' }) },
    resolve: async (_root, args, { app, viewer }, info) => {
      const { running, ...input } = args.input
      const { leaseSeconds, graceSeconds } = app.config
      const worker = {
        ...registeringOf(input),
        subject: viewer?.subject ?? '',
        asAdmin: hasRole(viewer, 'admin'),
        leaseSeconds,
      }
      const issues = argumentIssues(info, args)
      if (issues.length > 0) throw refused(app, worker, invalidInput(issues))
      const { reports, strangers } = partition(running)
      const outcome = await registerWorker(app, worker, reports)
      if (outcome.kind === 'refused') throw refused(app, worker, outcome.refusal)
      const { workerId, epoch, stop } = outcome
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
    description: 'A worker says that it is alive.',
    args: { input: t.arg({ type: RenewLeaseInput, required: true, description: 'Its registration.' }) },
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
    description: 'A worker says what it sees of its replicas.',
    args: { input: t.arg({ type: ReportReplicasInput, required: true, description: 'The reports.' }) },
    resolve: async (_root, args, { app, viewer }, info) => {
      checkArguments(info, args)
      const { input } = args
      const { reports, strangers } = partition(input.reports)
      const outcome = await reportReplicas(app, claimOf(input, viewer), input.sequence, reports, input.full)
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      return { fenced: [...strangers, ...outcome.fenced.map((id) => encodeGlobalId('Replica', id))] }
    },
  }),
  answerLogRequest: t.field({
    ...forWorkers,
    type: AnswerLogRequestPayload,
    errors: {
      types: errorTypes('FENCED', 'FORBIDDEN'),
      union: { name: 'AnswerLogRequestResult', description: 'What became of it.' },
    },
    description: 'A worker answers a log request.',
    args: { input: t.arg({ type: AnswerLogRequestInput, required: true, description: 'The lines.' }) },
    resolve: async (_root, { input }, { app, viewer }) => {
      const registration = await findRegistration(app, claimOf(input, viewer))
      if (registration.kind === 'refused') throw errorOf(registration.refusal)
      const { stdout, stderr, truncated } = input
      return {
        accepted: app.logRequests.answer(registration.reporter.workerId, String(input.request), {
          stdout,
          stderr,
          truncated,
        }),
      }
    },
  }),
}))

/** The log tells it too: whoever misses a host looks there. */
function refused(
  app: ServerContext,
  worker: { readonly name: string; readonly host: string; readonly subject: string },
  refusal: Refusal,
): Error {
  // That one registers again at once, above the number it is told.
  if (refusal.code === 'OVERTAKEN') return errorOf(refusal)
  const { name, host, subject } = worker
  // What is no name is not logged as one.
  const named = hostNameFault(name) === null && hostNameFault(host) === null ? { worker: name, host } : {}
  const why =
    refusal.code === 'INVALID_INPUT' ? refusal.issues.map(({ message }) => message).join(' ') : refusal.message
  app.workerRefusals.tell({ ...named, subject }, why.slice(0, 1_000))
  return errorOf(refusal)
}

/** An admin may speak for any worker; a worker's token only for the workers that it registered. */
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
