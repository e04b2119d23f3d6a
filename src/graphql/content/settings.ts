import type { SpreadMode as Mode } from '../../generated/prisma/enums.ts'
import type * as Model from '../../model/settings.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'

export const SpreadMode = enumOf<Mode>('SpreadMode', 'How the replicas of a service are spread over hosts.', {
  NONE: 'Not at all.',
  BEST_EFFORT: 'Evenly, but none waits for it.',
  STRICT: 'At most maxPerHost on a host: the others wait with SPREAD.',
})

const Limit = builder.objectRef<Model.Limit>('Limit').implement({
  description: 'A number of replicas: a count or a percentage of the desired ones. One of the two is null.',
  fields: (t) => ({
    count: t.int({
      nullable: true,
      description: 'Replicas.',
      resolve: (limit) => ('count' in limit ? limit.count : null),
    }),
    percent: t.int({
      nullable: true,
      description: 'Percent of the desired replicas, 0 to 100.',
      resolve: (limit) => ('percent' in limit ? limit.percent : null),
    }),
  }),
})

export const ServiceSettings = builder.objectRef<Model.Settings>('ServiceSettings').implement({
  description: 'How services of a profile are kept, as opposed to what their replicas run.',
  fields: (t) => ({
    replicas: t.exposeInt('replicas', {
      description: 'Desired replicas of a service that is created without a number.',
    }),
    spreadMode: t.field({
      type: SpreadMode,
      description: 'How replicas are spread over hosts.',
      resolve: (settings) => settings.spreadMode,
    }),
    maxPerHost: t.exposeInt('maxPerHost', {
      description:
        'STRICT: at most so many alive replicas of the service on a host. The other modes pay no regard to it.',
    }),
    maxSurge: t.field({
      type: Limit,
      description: 'Replicas above the desired ones during a rollout; a percentage is rounded up.',
      resolve: (settings) => settings.maxSurge,
    }),
    maxUnavailable: t.field({
      type: Limit,
      description: 'Replicas that may be unavailable during a rollout; a percentage is rounded down.',
      resolve: (settings) => settings.maxUnavailable,
    }),
    minReadySeconds: t.exposeInt('minReadySeconds', {
      description: 'Seconds that a replica has to be ready to be available.',
    }),
    progressDeadlineSeconds: t.exposeInt('progressDeadlineSeconds', {
      description: 'Seconds without progress after which a rollout is STALLED.',
    }),
    autoRollback: t.exposeBoolean('autoRollback', {
      description: 'Whether a rollout that fails is rolled back by itself.',
    }),
    backoffBaseSeconds: t.exposeInt('backoffBaseSeconds', {
      description: "Seconds waited after a slot's second failure; each further wait doubles.",
    }),
    backoffMaxSeconds: t.exposeInt('backoffMaxSeconds', { description: 'The longest wait in seconds.' }),
    backoffResetAfterSeconds: t.exposeInt('backoffResetAfterSeconds', {
      description: 'Seconds of being available after which failures are forgotten.',
    }),
  }),
})
