import { bounds } from '../../model/bounds.ts'
import type { Content } from '../../model/content.ts'
import type { Limit, OwnSettings, RolloutSettings, Settings, SettingsChange } from '../../model/settings.ts'
import { withoutNulls } from '../../model/withoutNulls.ts'
import { defaultMinReadySeconds, defaultSettings, givenSettings, settingsWith } from '../../rules/service/defaults.ts'
import { settingsIssues } from '../../rules/service/settings.ts'
import { builder } from '../kit/builder.ts'
import { type Check, type Fault, noneLeft } from '../kit/check.ts'
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
  return [{ message: `${value}${unit} is out of range: limits are ${limitRange}.`, bound: limitRange }]
}

const limitRange = `${bounds.limitCount.min} to ${bounds.limitCount.max}, or ${bounds.percent.min}% to ${bounds.percent.max}%`

const RolloutSettingsInput = builder.inputType('RolloutSettingsInput', {
  description:
    "How a rollout moves. maxSurge and maxUnavailable may not both be 0. In a profile, omitted fields get the default. In a service they stay as they are, and null goes back to the profile's value.",
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

const backoffDescription = 'The waits after failures.'
const spreadDescription = `Spread over hosts; ${defaultSettings.spreadMode} with ${defaultSettings.maxPerHost} per host when left out.`

export const ServiceDefaultsInput = builder.inputType('ServiceDefaultsInput', {
  description: 'The settings that services of a profile have, unless they have their own.',
  fields: (t) => ({
    replicas: t.int(
      whole(
        bounds.replicas,
        'replicas',
        (range) =>
          `Replicas of a service created without a number, ${range}; ${defaultSettings.replicas} when left out.`,
      ),
    ),
    spread: t.field({ type: SpreadInput, description: spreadDescription }),
    rollout: t.field({ type: RolloutSettingsInput, description: 'How rollouts move.' }),
    backoff: t.field({ type: BackoffInput, description: backoffDescription }),
  }),
})
type DefaultsInput = typeof ServiceDefaultsInput.$inferInput

type Kept = Pick<Content, 'ports' | 'readiness'>

/** The settings of a profile. Omitted ones get their default. */
export function settingsWithDefaults(input: DefaultsInput | null | undefined, content: Kept): Settings {
  return settingsWith(givenSettings(input ?? {}), content)
}

/** Judges the settings of a profile together with the defaults that its content gives them. */
export function settingsFaults(input: DefaultsInput | null | undefined, content: Kept): Fault[] {
  const given = givenSettings(input ?? {})
  return settingsIssues(settingsWith(given, content), given)
}

export const ServiceSettingsInput = builder.inputType('ServiceSettingsInput', {
  description:
    "Settings that a service has of its own, in place of its profile's, from now on. What is left out stays as it is; null goes back to the profile's.",
  fields: (t) => ({
    spread: t.field({ type: SpreadInput, description: 'Spread over hosts.' }),
    rollout: t.field({ type: RolloutSettingsInput, description: 'How rollouts move.' }),
    backoff: t.field({ type: BackoffInput, description: backoffDescription }),
  }),
})
type OwnInput = typeof ServiceSettingsInput.$inferInput

/** A null group goes back to the profile's values as a whole. */
export function settingsChangeOf(input: OwnInput | null | undefined): SettingsChange {
  if (input === undefined) return {}
  const { spread, rollout, backoff, ...rest } = input ?? { spread: null, rollout: null, backoff: null }
  noneLeft(rest)
  const change: Record<keyof SettingsChange, unknown> = {
    ...named(rollout, rolloutNames),
    ...named(spread, { mode: 'spreadMode', maxPerHost: 'maxPerHost' }),
    ...named(backoff, {
      baseSeconds: 'backoffBaseSeconds',
      maxSeconds: 'backoffMaxSeconds',
      resetAfterSeconds: 'backoffResetAfterSeconds',
    }),
  }
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}

const rolloutNames = {
  maxSurge: 'maxSurge',
  maxUnavailable: 'maxUnavailable',
  minReadySeconds: 'minReadySeconds',
  progressDeadlineSeconds: 'progressDeadlineSeconds',
  autoRollback: 'autoRollback',
  watchSeconds: 'watchSeconds',
} as const satisfies { readonly [Key in keyof RolloutSettings]: Key }

/** Gives the fields of a group the names of the settings. All are null where the group is null. */
function named<Group extends object, Name extends keyof SettingsChange>(
  group: Group | null | undefined,
  names: { readonly [Key in keyof Required<Group>]: Name },
): Record<Name, unknown> {
  const entries = Object.entries<Name>(names as Record<string, Name>)
  return Object.fromEntries(
    entries.map(([field, name]) => [
      name,
      group === null || group === undefined ? group : (group as Record<string, unknown>)[field],
    ]),
  ) as Record<Name, unknown>
}

/** Judges the given settings among themselves. The rules judge them together with the others. */
export function ownSettingsFaults(input: OwnInput): Fault[] {
  const given = withoutNulls<OwnSettings>(settingsChangeOf(input))
  return settingsIssues(given, given)
}
