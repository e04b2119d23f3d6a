import type { Reporter } from '../../model/intent.ts'
import {
  beginDrain,
  type DrainedService,
  type DrainState,
  endWorker,
  readDrain,
} from '../../systems/workers/workerDrain.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { errorOf, errorTypes } from '../kit/refusalError.ts'
import { badUserInput } from '../kit/requestErrors.ts'
import { storable } from '../kit/storableText.ts'
import { forWorkers } from './forWorkers.ts'
import { claimOf } from './workerProtocol.ts'

// A worker that is to end first moves its replicas away (R15): it is drained, and asks for the progress.

const mostServices = 1_000

const DrainedServiceType = builder.objectRef<DrainedService>('DrainedService').implement({
  description: 'The progress of a service that loses replicas to a drain.',
  fields: (t) => ({
    project: t.exposeString('project', { description: "The project's name." }),
    name: t.exposeString('name', { description: "The service's name." }),
    desiredReplicas: t.exposeInt('desiredReplicas', { description: 'How many replicas are wanted.' }),
    readyReplicas: t.exposeInt('readyReplicas', { description: 'How many replicas are ready, on any host.' }),
    blockers: t.stringList({
      description: 'Sentences that say what it waits for.',
      resolve: ({ blockers }) => [...blockers],
    }),
  }),
})

const WorkerDrain = builder.objectRef<DrainState>('WorkerDrain').implement({
  description: "The progress of a worker's drain.",
  fields: (t) => ({
    draining: t.exposeBoolean('draining', {
      description:
        'Whether it is being drained, alone or with its whole host. False after an operator ended the drain.',
    }),
    replicas: t.exposeInt('replicas', { description: 'Replicas on the worker that have not ended.' }),
    services: t.field({
      type: [DrainedServiceType],
      description: 'The requested services that still exist, in the order of project and name.',
      resolve: ({ services }) => [...services],
    }),
  }),
})

const DrainWorkerPayload = builder.objectRef<Reporter>('DrainWorkerPayload').implement({
  description: 'The worker is being drained.',
  fields: (t) => ({
    worker: t.id({
      description: 'The global id of the worker.',
      resolve: ({ workerId }) => encodeGlobalId('Worker', workerId),
    }),
  }),
})

const DrainWorkerInput = builder.inputType('DrainWorkerInput', {
  description: 'The registration of a worker that is to be drained.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'The epoch that registerWorker returned.' }),
  }),
})

const EndWorkerPayload = builder.objectRef<Reporter>('EndWorkerPayload').implement({
  description: 'The worker has ended.',
  fields: (t) => ({
    worker: t.id({
      description: 'The global id of the worker.',
      resolve: ({ workerId }) => encodeGlobalId('Worker', workerId),
    }),
  }),
})

const EndWorkerInput = builder.inputType('EndWorkerInput', {
  description: 'A registration whose worker ends.',
  fields: (t) => ({
    worker: t.id({ required: true, description: 'The global id of the worker.' }),
    epoch: t.int({ required: true, description: 'The epoch that registerWorker returned.' }),
  }),
})

builder.mutationField('drainWorker', (t) =>
  t.field({
    ...forWorkers,
    type: DrainWorkerPayload,
    errors: {
      types: errorTypes('FENCED', 'FORBIDDEN'),
      union: { name: 'DrainWorkerResult', description: 'What became of it.' },
    },
    description:
      'Moves all replicas away from a worker that is to end, as drainHost does for a host; they may go to other workers of its host. The drain is over when the worker registers again, or by uncordonHost. Asking again changes nothing.',
    args: { input: t.arg({ type: DrainWorkerInput, required: true, description: "The worker's registration." }) },
    resolve: async (_root, { input }, { app, viewer }) => {
      const outcome = await beginDrain(app, claimOf(input, viewer))
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      return outcome.reporter
    },
  }),
)

builder.mutationField('endWorker', (t) =>
  t.field({
    ...forWorkers,
    type: EndWorkerPayload,
    errors: {
      types: errorTypes('FENCED', 'FORBIDDEN'),
      union: { name: 'EndWorkerResult', description: 'What became of it.' },
    },
    description:
      'A worker ends and runs nothing any more: it is LOST at once, without its lease and grace, and its registration is over. Replicas whose end it has not reported are replaced.',
    args: { input: t.arg({ type: EndWorkerInput, required: true, description: "The worker's registration." }) },
    resolve: async (_root, { input }, { app, viewer }) => {
      const outcome = await endWorker(app, claimOf(input, viewer))
      if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
      return outcome.reporter
    },
  }),
)

const ServiceKey = builder.inputRef<{ readonly project: string; readonly name: string }>('ServiceKey').implement({
  description: 'Names a service of a drain.',
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default', description: "The project's name." }),
    name: t.string({ required: true, description: "The service's name." }),
  }),
})

builder.queryField('workerDrain', (t) =>
  t.field({
    ...forWorkers,
    type: WorkerDrain,
    description: "The progress of a worker's drain. The error FENCED when the epoch is old.",
    args: {
      worker: t.arg.id({ required: true, description: 'The global id of the worker.' }),
      epoch: t.arg.int({ required: true, description: 'The epoch that registerWorker returned.' }),
      services: t.arg({
        type: [ServiceKey],
        required: true,
        description: `The names of at most ${mostServices} services to report on.`,
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
