import type { RolloutId } from '../../model/id.ts'
import type { Refusal } from '../../model/refusal.ts'
import { mostSteps, type RolloutPlan as Plan, type PlanStep } from '../../simulation/plan.ts'
import { previewBounds } from '../../simulation/preview.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { invalidInput } from '../kit/check.ts'
import { errorOf, ForbiddenError, InvalidInputError, NoChangeError, NotFoundError } from '../kit/refusalError.ts'
import { unauthenticated } from '../kit/requestErrors.ts'
import { updateIntentOf } from './updateIntent.ts'
import { UpdateServiceInput } from './updateService.ts'

const RolloutPlanStep = builder.objectRef<PlanStep>('RolloutPlanStep').implement({
  description: 'What starts and stops within one second, and the counts at its end.',
  fields: (t) => ({
    atSeconds: t.exposeInt('atSeconds', { description: 'Seconds from the update, rounded up.' }),
    starts: t.intList({ description: 'Indexes of the replicas that are created.', resolve: (step) => step.starts }),
    stops: t.intList({ description: 'Indexes of the replicas that are told to stop.', resolve: (step) => step.stops }),
    active: t.exposeInt('active', { description: 'Active replicas after it.' }),
    ready: t.exposeInt('ready', { description: 'Ready replicas after it.' }),
    available: t.exposeInt('available', { description: 'Available replicas after it.' }),
  }),
})

const RolloutPlan = builder.objectRef<Plan>('RolloutPlan').implement({
  description:
    'What an update would lead to, if nothing else happened: every new replica is ready readyAfterSeconds after it is placed, every stopped one ends at its signal, none fails.',
  fields: (t) => ({
    steps: t.field({
      type: [RolloutPlanStep],
      description: `The steps in order, one per second in which something changes. Of more than ${mostSteps}, neighbours are told as one.`,
      resolve: (plan) => plan.steps,
    }),
    lowestAvailable: t.exposeInt('lowestAvailable', { description: 'The fewest available replicas on the way.' }),
    highestActive: t.exposeInt('highestActive', { description: 'The most active replicas on the way.' }),
    durationSeconds: t.exposeInt('durationSeconds', {
      nullable: true,
      description: 'Seconds until all is done, rounded up; null when it does not finish.',
    }),
    finishes: t.exposeBoolean('finishes', {
      description: 'Whether it ends with all desired replicas available and none outdated.',
    }),
    blocker: t.field({
      type: Blocker,
      nullable: true,
      description: 'What it would wait for in the end; null when it finishes.',
      resolve: (plan) => plan.blocker,
    }),
  }),
})

const { seconds, commits, rowVisits } = previewBounds
const readyBounds = { min: 0, max: 86_400 } as const

builder.queryField('previewUpdate', (t) =>
  t.field({
    type: RolloutPlan,
    description: `What updateService with this input would do: the same rules and placement on a virtual clock, from the state of now. Changes nothing. Bounded to ${seconds} s of virtual time, ${commits.toLocaleString('en')} commits and ${rowVisits.toLocaleString('en')} looks at replicas (each commit looks at all of the service): what is cut off there does not finish, and its blocker says so.`,
    args: {
      input: t.arg({
        type: UpdateServiceInput,
        required: true,
        description: 'The update. Its idempotencyKey is not looked at.',
      }),
      readyAfterSeconds: t.arg.int({
        required: true,
        defaultValue: 10,
        description: `Seconds from a replica's placement until it is ready, ${readyBounds.min} to ${readyBounds.max}.`,
      }),
    },
    errors: {
      types: [NotFoundError, InvalidInputError, NoChangeError, ForbiddenError],
      union: { name: 'PreviewUpdateResult', description: 'The plan, or why there is none.' },
    },
    resolve: async (_root, { input, readyAfterSeconds }, { app, viewer }) => {
      if (viewer === null) throw unauthenticated()
      if (readyAfterSeconds < readyBounds.min || readyAfterSeconds > readyBounds.max) {
        const message = `${readyAfterSeconds} is out of range: seconds until ready are ${readyBounds.min} to ${readyBounds.max}.`
        throw invalidInput([{ path: ['readyAfterSeconds'], message }])
      }
      const { serviceId, intent } = await updateIntentOf(app, input, viewer.subject, app.newId() as RolloutId)
      const plan = await app.previews.preview(serviceId, intent, readyAfterSeconds)
      if ('code' in plan) throw refused(plan)
      return plan
    },
  }),
)

/** A preview's own errors are fewer than an update's: what else an update would be refused for is about the input here. */
function refused(refusal: Refusal) {
  switch (refusal.code) {
    case 'CONFLICT':
      return invalidInput([{ path: ['input', 'expectedRevision'], message: refusal.message }])
    case 'QUOTA_EXCEEDED':
      return invalidInput([{ path: ['input', 'replicas'], message: refusal.message }])
    case 'INVALID_STATE':
      return invalidInput([{ path: refusal.path, message: refusal.message }])
    default:
      return errorOf(refusal)
  }
}
