import type { SpreadMode as Mode } from '../../generated/prisma/enums.ts'
import type * as Model from '../../model/settings.ts'
import { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'

export const SpreadMode = enumOf<Mode>('SpreadMode', 'How the replicas of a service are spread over hosts.', {
  NONE: 'Replicas are not spread.',
  BEST_EFFORT: 'Replicas are spread evenly, but none waits for a better host.',
  STRICT: 'A host has at most maxPerHost replicas of the service. The others wait with the blocker SPREAD.',
})

/** The payload of each mutation that writes settings has such a field. */
export const warningsDescription =
  'One sentence for each setting that is allowed and cannot do what it says; empty when all can. Nothing is refused for it.'

const SpreadSettings = builder.objectRef<Model.Settings>('SpreadSettings').implement({
  description: 'How replicas are spread over hosts.',
  fields: (t) => ({
    mode: t.field({
      type: SpreadMode,
      description: 'NONE, BEST_EFFORT or STRICT.',
      resolve: ({ spreadMode }) => spreadMode,
    }),
    maxPerHost: t.exposeInt('maxPerHost', {
      description: 'How many alive replicas of the service a host may have under STRICT. The other modes ignore it.',
    }),
  }),
})

const RolloutSettings = builder.objectRef<Model.RolloutSettings>('RolloutSettings').implement({
  description: 'How a rollout moves.',
  fields: (t) => ({
    maxSurge: t.expose('maxSurge', {
      type: 'IntOrPercent',
      description: 'How many replicas a rollout may run above the desired ones. A percentage is rounded up.',
    }),
    maxUnavailable: t.expose('maxUnavailable', {
      type: 'IntOrPercent',
      description:
        'How many of the desired replicas may be unavailable during a rollout. A percentage is rounded down.',
    }),
    minReadySeconds: t.exposeInt('minReadySeconds', {
      description:
        'Seconds for which a replica must be ready before it is available. After a failure or a restart in place during a rollout they are at least 10.',
    }),
    progressDeadlineSeconds: t.exposeInt('progressDeadlineSeconds', {
      description: 'Seconds without progress after which a rollout is STALLED.',
    }),
    autoRollback: t.exposeBoolean('autoRollback', {
      description:
        'Whether a rollout is rolled back automatically when a replica of its target is in CRASH_LOOP, or when it is STALLED and a replica of its target has a place and is not available.',
    }),
    watchSeconds: t.exposeInt('watchSeconds', {
      description:
        'Seconds after the completion of a rollout in which autoRollback still acts. A failure or a restart in place begins them again.',
    }),
  }),
})

const BackoffSettings = builder.objectRef<Model.Settings>('BackoffSettings').implement({
  description: 'The waits after failures.',
  fields: (t) => ({
    baseSeconds: t.exposeInt('backoffBaseSeconds', {
      description: "Seconds of the wait after a slot's second failure. Each further wait is twice as long.",
    }),
    maxSeconds: t.exposeInt('backoffMaxSeconds', { description: 'The longest wait in seconds.' }),
    resetAfterSeconds: t.exposeInt('backoffResetAfterSeconds', {
      description: 'Seconds for which a replica must be available before its failures are forgotten.',
    }),
  }),
})

export const ServiceDefaults = builder.objectRef<Model.Settings>('ServiceDefaults').implement({
  description: 'The settings that services of a profile have, unless they have their own.',
  fields: (t) => ({
    replicas: t.exposeInt('replicas', {
      description: 'Desired replicas of a service that is created without a number.',
    }),
    spread: t.field({ type: SpreadSettings, description: 'Spread over hosts.', resolve: (settings) => settings }),
    rollout: t.field({ type: RolloutSettings, description: 'How rollouts move.', resolve: (settings) => settings }),
    backoff: t.field({
      type: BackoffSettings,
      description: 'The waits after failures.',
      resolve: (settings) => settings,
    }),
  }),
})

export const ServiceSettings = builder.objectRef<Model.Settings>('ServiceSettings').implement({
  description:
    'How a service is kept: its own settings, and its profile’s where it has none. updateService takes what was read here, and then nothing changes.',
  fields: (t) => ({
    spread: t.field({ type: SpreadSettings, description: 'Spread over hosts.', resolve: (settings) => settings }),
    rollout: t.field({ type: RolloutSettings, description: 'How rollouts move.', resolve: (settings) => settings }),
    backoff: t.field({
      type: BackoffSettings,
      description: 'The waits after failures.',
      resolve: (settings) => settings,
    }),
  }),
})

const paths: Readonly<Record<string, string>> = {
  spreadMode: 'spread.mode',
  maxPerHost: 'spread.maxPerHost',
  backoffBaseSeconds: 'backoff.baseSeconds',
  backoffMaxSeconds: 'backoff.maxSeconds',
  backoffResetAfterSeconds: 'backoff.resetAfterSeconds',
}

/** Where a setting stands in ServiceSettings, by its name in the model. */
export function settingPath(name: string): string {
  return paths[name] ?? `rollout.${name}`
}
