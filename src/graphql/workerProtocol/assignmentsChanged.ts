import { SharedSource } from '../../feed/sharedSource.ts'
import { type AssignmentFrame, assignmentFollower } from '../../systems/workers/assignmentFollower.ts'
import { findRegistration } from '../../systems/workers/workerReports.ts'
import { builder } from '../kit/builder.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { errorOf } from '../kit/refusalError.ts'
import { partFields } from '../subscribe/frameFields.ts'
import { frameArgs } from '../subscribe/sources.ts'
import { Assignment, LogRequest } from './assignment.ts'
import { forWorkers } from './forWorkers.ts'
import { claimOf } from './workerProtocol.ts'

const AssignmentChange = builder.objectRef<AssignmentFrame>('AssignmentChange').implement({
  description: 'A frame of assignmentsChanged, in parts of at most 500 assignments.',
  fields: (t) => ({
    ...partFields(t),
    assignments: t.field({
      type: [Assignment],
      description:
        'A SNAPSHOT has all assignments of the worker, a DELTA those that are new or changed. They are read now.',
      resolve: (frame) => frame.assignments,
    }),
    removed: t.idList({
      description: 'Replicas that are no longer assigned to this worker. The worker stops them.',
      resolve: ({ removed }) => removed.map((id) => encodeGlobalId('Replica', id)),
    }),
    logRequests: t.field({
      type: [LogRequest],
      description: 'Requests for logs.',
      resolve: (frame) => frame.logRequests,
    }),
  }),
})

builder.subscriptionField('assignmentsChanged', (t) =>
  t.field({
    type: AssignmentChange,
    ...forWorkers,
    description:
      'Follows what a worker should run: a SNAPSHOT first, then every change. The error FENCED ends it when the epoch is old.',
    args: {
      worker: t.arg.id({ required: true, description: 'The global id of the worker.' }),
      epoch: t.arg.int({ required: true, description: 'The epoch that registerWorker returned.' }),
      ...frameArgs,
    },
    subscribe: async (_root, { worker, epoch, ...wishes }, { app, viewer }) => {
      const registration = await findRegistration(app, claimOf({ worker, epoch }, viewer))
      if (registration.kind === 'refused') throw errorOf(registration.refusal)
      const { reporter } = registration
      const identity = `assignments ${reporter.workerId} ${reporter.epoch}`
      return new SharedSource(app.feed, identity, wishes, assignmentFollower(app, reporter))
    },
    resolve: (frame) => frame,
  }),
)
