import { bounds } from '../../model/bounds.ts'
import type { Content } from '../../model/content.ts'
import type { Limit, RolloutSettings, Settings } from '../../model/settings.ts'
import { withoutNulls } from '../../model/withoutNulls.ts'
import { defaultMinReadySeconds, defaultSettings, givenSettings, settingsWith } from '../../rules/service/defaults.ts'
import { settingsIssues } from '../../rules/service/settings.ts'
import { builder } from '../kit/builder.ts'
import type { Check, Fault, PartOf } from '../kit/check.ts'
import { whole } from '../kit/values.ts'
import { SpreadMode } from './settings.ts'

const { probed, unprobed } = defaultMinReadySeconds

const SpreadInput = builder.inputType('SpreadInput', {
  description: 'How replicas are spread over hosts.',
  fields: (t) => ({
    mode: t.field({ type: SpreadMode, required: true, description: 'NONE, BEST_EFFORT or STRICT.' }),
    maxPerHost: t.int({
      defaultValue: 1,
      ...whole(
        bounds.maxPerHost,
        'replicas per host',
        (range) =>
          `How many alive replicas of the service a host may have under STRICT, ${range}. The other modes ignore it.`,
      ),
    }),
  }),
})

/** A limit of a rollout is a count or a percentage, and each has its bounds. */
const limitFaults: Check<Limit> = (limit) => {
  const { limitCount, percent } = bounds
  const [value, { min, max }, unit] = 'count' in limit ? [limit.count, limitCount, ''] : [limit.percent, percent, '%']
  if (value >= min && value <= max) return []
  return [{ message: `${value}${unit} is out of range: limits are ${limitRange}.` }]
}

const limitRange = `${bounds.limitCount.min} to ${bounds.limitCount.max}, or ${bounds.percent.min}% to ${bounds.percent.max}%`

export const RolloutSettingsInput = builder.inputType('RolloutSettingsInput', {
  description:
    "How a rollout moves. maxSurge and maxUnavailable may not both be 0. Omitted fields get the default in a profile, the profile's value in an update that makes a new version, and stay unchanged in an update of settings only.",
  fields: (t) => ({
    maxSurge: t.field({
      type: 'IntOrPercent',
      description: `How many replicas a rollout may run above the desired ones, ${limitRange}; a percentage is rounded up. When left out: "25%", or 0 with a fixed port or STRICT spread.`,
      check: limitFaults,
    }),
    maxUnavailable: t.field({
      type: 'IntOrPercent',
      description: `How many of the desired replicas may be unavailable, ${limitRange}; a percentage is rounded down; "25%" when left out.`,
      check: limitFaults,
    }),
    minReadySeconds: t.int(
      whole(
        bounds.minReadySeconds,
        'the seconds of being ready',
        (range) =>
          `Seconds of being ready that make a replica available, ${range}; when left out ${probed} with a readiness probe and ${unprobed} without one.`,
      ),
    ),
    progressDeadlineSeconds: t.int(
      whole(
        bounds.progressDeadlineSeconds,
        'the seconds without progress',
        (range) =>
          `Seconds without progress after which it is STALLED, ${range} and more than minReadySeconds; ${defaultSettings.progressDeadlineSeconds} when left out.`,
      ),
    ),
    autoRollback: t.boolean({
      description: `Whether a failing rollout is rolled back automatically; ${defaultSettings.autoRollback} when left out.`,
    }),
    watchSeconds: t.int(
      whole(
        bounds.watchSeconds,
        'the seconds of the watch',
        (range) =>
          `Seconds after completion in which autoRollback still acts, ${range}; ${defaultSettings.watchSeconds} when left out, and 0 ends its work with the completion.`,
      ),
    ),
  }),
})
type RolloutInput = PartOf<RolloutSettings, typeof RolloutSettingsInput.$inferInput>

/** The given settings of a rollout, without those that are not given. */
export function rolloutOf(input: RolloutInput | null | undefined): Partial<RolloutSettings> {
  return withoutNulls<RolloutSettings>({ ...input })
}

/** The settings of an update. The rules fill in the service's values for omitted ones. */
export function rolloutFaults(input: RolloutInput): Fault[] {
  const given = rolloutOf(input)
  return settingsIssues(given, given).map(({ path: [, ...path], message }) => ({ path, message }))
}

const BackoffInput = builder.inputType('BackoffInput', {
  description:
    'The waits after failures. The first replacement starts at once; the next one waits baseSeconds, and each further wait is twice as long, up to maxSeconds.',
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
          `Seconds for which a replica must be available before its failures are forgotten, ${range}; ${defaultSettings.backoffResetAfterSeconds} when left out.`,
      ),
    ),
  }),
})

export const ServiceSettingsInput = builder.inputType('ServiceSettingsInput', {
  description: 'The settings of services that use this profile.',
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
})
type SettingsInput = typeof ServiceSettingsInput.$inferInput

type Kept = Pick<Content, 'ports' | 'readiness'>

/** The settings of a profile. Omitted ones get their default. */
export function settingsWithDefaults(input: SettingsInput | null | undefined, content: Kept): Settings {
  return settingsWith(givenOf(input ?? {}), content)
}

/** Judges the settings of a profile together with the defaults that its content gives them. */
export function settingsFaults(input: SettingsInput | null | undefined, content: Kept): Fault[] {
  const given = givenOf(input ?? {})
  return settingsIssues(settingsWith(given, content), given)
}

function givenOf({ rollout, ...input }: SettingsInput): Partial<Settings> {
  return givenSettings({ ...input, rollout: rolloutOf(rollout) })
}
