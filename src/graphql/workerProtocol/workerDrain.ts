import { beginDrain, type DrainedService, type DrainState, readDrain } from '../../systems/workers/workerDrain.ts'
import { Host } from '../host/host.ts'
import { builder } from '../kit/builder.ts'
import { errorOf, errorTypes } from '../kit/refusalError.ts'
import { badUserInput } from '../kit/requestErrors.ts'
import { ServiceKey } from '../kit/serviceKey.ts'
import { storable } from '../kit/storableText.ts'
import { claimOf } from './workerProtocol.ts'

// A worker that is to end moves its replicas first (R15): it is drained, and looks how far that is.

const mostServices = 1_000

const DrainedServiceType = builder.objectRef<DrainedService>('DrainedService').implement({
  description: 'How far a service is that loses replicas to a drain.',
  fields: (t) => ({
    project: t.exposeString('project', { description: "The project's name." }),
    name: t.exposeString('name', { description: "The service's name." }),
    desiredReplicas: t.exposeInt('desiredReplicas', { description: 'How many replicas are wanted.' }),
    readyReplicas: t.exposeInt('readyReplicas', { description: 'How many are ready, wherever they are.' }),
    blockers: t.stringList({
      description: 'What it waits for, as sentences.',
      resolve: ({ blockers }) => [...blockers],
    }),
  }),
})

const WorkerDrain = builder.objectRef<DrainState>('WorkerDrain').implement({
  description: 'How far the drain of a worker is.',
  fields: (t) => ({
    isDraining: t.exposeBoolean('isDraining', {
      description: 'Whether it is being drained, by itself or with its host. False after an operator ended it.',
    }),
    replicas: t.exposeInt('replicas', { description: 'Replicas on the worker that have not ended.' }),
    services: t.field({
      type: [DrainedServiceType],
      description: 'The services that were asked about, without those that are deleted; by project and name.',
      resolve: ({ services }) => [...services],
    }),
  }),
})

const DrainWorkerPayload = builder.objectRef<{ readonly hostId: string }>('DrainWorkerPayload').implement({
  description: 'The worker is being drained.',
  fields: (t) => ({
    host: t.field({
      type: Host,
      description: 'Its host, read after the change.',
      resolve: ({ hostId }, _args, { rows }) => rows.require('Host', hostId),
    }),
  }),
})

const DrainWorkerInput = builder.inputType('DrainWorkerInput', {
  description: 'A registration whose worker is to be drained.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'Of its registration.' }),
  }),
})

const forWorkers = { skipTypeScopes: true, authScopes: { worker: true } } as const

builder.mutationField('drainWorker', (t) =>
  t.field({
    ...forWorkers,
    type: DrainWorkerPayload,
    errors: {
      types: errorTypes('FENCED', 'FORBIDDEN'),
      union: { name: 'DrainWorkerResult', description: 'What became of it.' },
    },
    description:
      'A worker is to end: it takes no new replicas, and those it has are replaced elsewhere, as by drainHost, also on other workers of its host. Over when it registers anew, or by uncordonHost. Asked again, nothing changes.',
    args: { input: t.arg({ type: DrainWorkerInput, required: true, description: 'Its registration.' }) },
    resolve: async (_root, { input }, { app, viewer }) => {
      const outcome = await beginDrain(app, claimOf(input, viewer))
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      return { hostId: outcome.reporter.hostId }
    },
  }),
)

builder.queryField('workerDrain', (t) =>
  t.field({
    ...forWorkers,
    type: WorkerDrain,
    description: 'How far the drain of a worker is. An old epoch: the error FENCED.',
    args: {
      worker: t.arg.id({ required: true, description: 'The global id of the worker.' }),
      epoch: t.arg.int({ required: true, description: 'Of its registration.' }),
      services: t.arg({
        type: [ServiceKey],
        required: true,
        description: `Services to tell of, at most ${mostServices}.`,
      }),
    },
    resolve: async (_root, { worker, epoch, services }, { app, viewer }) => {
      if (services.length > mostServices)
        throw badUserInput(`services has ${services.length} services: at most ${mostServices} are allowed.`)
      const named = services.filter(({ project, name }) => storable(project) && storable(name))
      const outcome = await readDrain(app, claimOf({ worker, epoch }, viewer), named)
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      return outcome
    },
  }),
)
