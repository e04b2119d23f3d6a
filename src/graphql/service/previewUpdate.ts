import type { RolloutId } from '../../model/id.ts'
import { invalidInput, type Refusal } from '../../model/refusal.ts'
import { mostSteps, type RolloutPlan as Plan, type PlanStep } from '../../simulation/plan.ts'
import { previewBounds } from '../../simulation/preview.ts'
import { warningsDescription } from '../content/settings.ts'
import { Blocker } from '../kit/blocker.ts'
import { builder } from '../kit/builder.ts'
import { checkArguments } from '../kit/check.ts'
import { errorOf, errorTypes } from '../kit/refusalError.ts'
import { withValues } from '../kit/refusedValue.ts'
import { unauthenticated } from '../kit/requestErrors.ts'
import { whole } from '../kit/values.ts'
import { UpdateServiceInput, updateIntentOf } from './updateService.ts'

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
    'What an update would lead to if nothing else happened, every new replica were ready readyAfterSeconds after its placement, every stopped one ended at its signal, and none failed.',
  fields: (t) => ({
    steps: t.field({
      type: [RolloutPlanStep],
      description: `The steps in order, one for each second in which something changes. When there are more than ${mostSteps}, neighbouring steps are joined.`,
      resolve: (plan) => plan.steps,
    }),
    lowestAvailable: t.exposeInt('lowestAvailable', {
      description: 'The lowest number of available replicas on the way.',
    }),
    highestActive: t.exposeInt('highestActive', { description: 'The highest number of active replicas on the way.' }),
    durationSeconds: t.exposeInt('durationSeconds', {
      nullable: true,
      description: 'Seconds until all is done, rounded up; null when it does not finish.',
    }),
    finished: t.exposeBoolean('finished', {
      description: 'Whether it ends with all desired replicas available and none outdated.',
    }),
    watchSeconds: t.exposeInt('watchSeconds', {
      description: 'Seconds for which autoRollback still watches over it after it is done; 0 when it does not.',
    }),
    warnings: t.stringList({ description: warningsDescription, resolve: (plan) => plan.warnings }),
    blocker: t.field({
      type: Blocker,
      nullable: true,
      description: 'What it would wait for at the end; null when it finishes.',
      resolve: (plan) => plan.blocker,
    }),
  }),
})

const { seconds, commits, rowVisits } = previewBounds

builder.queryField('previewUpdate', (t) =>
  t.field({
    type: RolloutPlan,
    description: `Shows what updateService with this input would do, by the same rules and placement on a virtual clock, from the present state. It changes nothing. The simulation is bounded to ${seconds} s of virtual time, ${commits.toLocaleString('en')} commits and ${rowVisits.toLocaleString('en')} looks at replicas (each commit looks at all of the service's). A plan that is cut off there does not finish, and its blocker says so.`,
    args: {
      input: t.arg({
        type: UpdateServiceInput,
        required: true,
        description: 'The update. Its idempotencyKey is ignored.',
      }),
      readyAfterSeconds: t.arg.int({
        required: true,
        defaultValue: 10,
        ...whole(
          { min: 0, max: 86_400 },
          'seconds until ready',
          (range) => `Seconds from a replica's placement until it is ready, ${range}.`,
        ),
      }),
    },
    errors: {
      types: errorTypes('NOT_FOUND', 'INVALID_INPUT', 'NO_CHANGE', 'FORBIDDEN'),
      union: { name: 'PreviewUpdateResult', description: 'The plan, or why there is none.' },
    },
    resolve: async (_root, args, { app, viewer }, info) => {
      if (viewer === null) throw unauthenticated()
      try {
        checkArguments(info, args)
        const { input, readyAfterSeconds } = args
        const { serviceId, intent } = await updateIntentOf(
          app,
          input,
          { actor: viewer.subject, why: null },
          app.newId() as RolloutId,
        )
        const plan = await app.previews.preview(serviceId, intent, readyAfterSeconds)
        if ('code' in plan) throw errorOf(asInput(plan))
        return plan
      } catch (error) {
        throw withValues(error, args)
      }
    },
  }),
)

/** A preview has fewer errors than an update, because its other refusals concern only the input here. */
function asInput(refusal: Refusal): Refusal {
  const { message } = refusal
  switch (refusal.code) {
    case 'CONFLICT':
      return invalidInput([{ path: ['input', 'expectedRevision'], message }])
    case 'QUOTA_EXCEEDED':
      return invalidInput([{ path: ['input', 'replicas'], message }])
    case 'INVALID_STATE':
      return invalidInput([{ path: refusal.path, message }])
    default:
      return refusal
  }
}
