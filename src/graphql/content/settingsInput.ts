import { bounds } from '../../model/bounds.ts'
import type { PortDeclaration } from '../../model/content.ts'
import type { Limit, RolloutSettings, Settings } from '../../model/settings.ts'
import { withoutNulls } from '../../model/withoutNulls.ts'
import { defaultSettings, givenSettings, settingsWith } from '../../rules/service/defaults.ts'
import { settingsIssues } from '../../rules/service/settings.ts'
import { builder } from '../kit/builder.ts'
import { type Fault, noneLeft, type PartOf } from '../kit/check.ts'
import { whole } from '../kit/values.ts'
import { SpreadMode } from './settings.ts'

const SpreadInput = builder.inputType('SpreadInput', {
  description: 'How replicas are spread over hosts.',
  fields: (t) => ({
    mode: t.field({ type: SpreadMode, required: true, description: 'NONE, BEST_EFFORT or STRICT.' }),
    maxPerHost: t.int({
      defaultValue: 1,
      ...whole(
        bounds.maxPerHost,
        'replicas per host',
        (range) => `STRICT: alive replicas of the service per host, ${range}. The other modes pay no regard to it.`,
      ),
    }),
  }),
})

const IntOrPercent = builder.inputType('IntOrPercent', {
  isOneOf: true,
  description: 'A number of replicas: exactly one of the two.',
  fields: (t) => ({
    count: t.int(whole(bounds.limitCount, 'replicas of a limit', (range) => `Replicas, ${range}.`)),
    percent: t.int(whole(bounds.percent, 'percentages', (range) => `Percent of the desired replicas, ${range}.`)),
  }),
})

export const RolloutSettingsInput = builder.inputType('RolloutSettingsInput', {
  description:
    'How a rollout moves. maxSurge and maxUnavailable may not both be 0. What is left out is: in a profile and a new service as each field says or the profile has it; in an update that makes a new version as the profile has it, in one of settings only as it was.',
  fields: (t) => ({
    maxSurge: t.field({
      type: IntOrPercent,
      description:
        'Replicas above the desired ones, rounded up; 25 % when left out, 0 with a fixed port or STRICT spread.',
    }),
    maxUnavailable: t.field({
      type: IntOrPercent,
      description: 'Desired replicas that may be unavailable, rounded down; 25 % when left out.',
    }),
    minReadySeconds: t.int(
      whole(
        bounds.minReadySeconds,
        'the seconds of being ready',
        (range) =>
          `Seconds of being ready that make a replica available, ${range}; ${defaultSettings.minReadySeconds} when left out.`,
      ),
    ),
    progressDeadlineSeconds: t.int(
      whole(
        bounds.progressDeadlineSeconds,
        'the seconds without progress',
        (range) =>
          `Seconds without progress until STALLED, ${range} and more than minReadySeconds; ${defaultSettings.progressDeadlineSeconds} when left out.`,
      ),
    ),
    autoRollback: t.boolean({
      description: `Whether a failing rollout is rolled back by itself; ${defaultSettings.autoRollback} when left out.`,
    }),
  }),
})
type RolloutInput = PartOf<RolloutSettings, typeof RolloutSettingsInput.$inferInput>

/** What is given for a rollout, and nothing of what is not. */
export function rolloutOf(input: RolloutInput | null | undefined): Partial<RolloutSettings> {
  return withoutNulls<RolloutSettings>({
    ...input,
    maxSurge: limitOf(input?.maxSurge),
    maxUnavailable: limitOf(input?.maxUnavailable),
  })
}

function limitOf(input: typeof IntOrPercent.$inferInput | null | undefined): Limit | null {
  const { count, percent, ...rest } = input ?? {}
  noneLeft(rest)
  if (typeof count === 'number') return { count }
  return typeof percent === 'number' ? { percent } : null
}

/** Of an update: what is left out is the service's, which the rules know. */
export function rolloutFaults(input: RolloutInput): Fault[] {
  const given = rolloutOf(input)
  return settingsIssues(given, given).map(({ path: [, ...path], message }) => ({ path, message }))
}

const BackoffInput = builder.inputType('BackoffInput', {
  description: 'The waits after failures: the first replacement at once, then base, doubled up to max.',
  fields: (t) => ({
    baseSeconds: t.int(
      whole(
        bounds.backoffSeconds,
        'the seconds of the first wait',
        (range) => `Seconds of the first wait, ${range}; ${defaultSettings.backoffBaseSeconds} when left out.`,
      ),
    ),
    maxSeconds: t.int(
      whole(
        bounds.backoffSeconds,
        'the seconds of the longest wait',
        (range) =>
          `Seconds of the longest wait, ${range} and not less than baseSeconds; ${defaultSettings.backoffMaxSeconds} when left out.`,
      ),
    ),
    resetAfterSeconds: t.int(
      whole(
        bounds.backoffResetAfterSeconds,
        'the seconds of being available',
        (range) =>
          `Seconds of being available that forget failures, ${range}; ${defaultSettings.backoffResetAfterSeconds} when left out.`,
      ),
    ),
  }),
})

export const ServiceSettingsInput = builder.inputType('ServiceSettingsInput', {
  description: 'How services of the profile are kept.',
  fields: (t) => ({
    replicas: t.int(
      whole(
        bounds.replicas,
        'replicas',
        (range) =>
          `Replicas of a service created without a number, ${range}; ${defaultSettings.replicas} when left out.`,
      ),
    ),
    spread: t.field({
      type: SpreadInput,
      description: `Spread over hosts; ${defaultSettings.spreadMode} with ${defaultSettings.maxPerHost} per host when left out.`,
    }),
    rollout: t.field({ type: RolloutSettingsInput, description: 'How rollouts move.' }),
    backoff: t.field({ type: BackoffInput, description: 'The waits after failures.' }),
  }),
  check: (input) => {
    const given = givenOf(input)
    // Ports change the limits that are left out, and never to 0 beside one that is given as 0.
    return settingsIssues(settingsWith(given, []), given)
  },
})
type SettingsInput = typeof ServiceSettingsInput.$inferInput

/** Of a profile: what is left out has its default. */
export function settingsWithDefaults(
  input: SettingsInput | null | undefined,
  ports: readonly PortDeclaration[],
): Settings {
  return settingsWith(givenOf(input ?? {}), ports)
}

function givenOf({ rollout, ...input }: SettingsInput): Partial<Settings> {
  return givenSettings({ ...input, rollout: rolloutOf(rollout) })
}
