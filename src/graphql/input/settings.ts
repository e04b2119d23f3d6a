import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { PortDeclaration } from '../../model/content.ts'
import type { Limit, RolloutSettings, Settings } from '../../model/settings.ts'
import { defaultLimits } from '../../rules/limits.ts'
import { type Fault, faultless, whole } from './values.ts'

const defaults = {
  minReadySeconds: 0,
  progressDeadlineSeconds: 600,
  backoffBaseSeconds: 10,
  backoffMaxSeconds: 300,
  backoffResetAfterSeconds: 600,
} as const

const limit = z.object({
  count: whole('replicas of a limit', bounds.limitCount).nullish(),
  percent: whole('percentages', bounds.percent).nullish(),
})
type LimitInput = z.output<typeof limit>

const rolloutFields = z.object({
  maxSurge: limit.nullish(),
  maxUnavailable: limit.nullish(),
  minReadySeconds: whole('the seconds of being ready', bounds.minReadySeconds).nullish(),
  progressDeadlineSeconds: whole('the seconds without progress', bounds.progressDeadlineSeconds).nullish(),
  autoRollback: z.boolean().nullish(),
})
type RolloutInput = z.output<typeof rolloutFields>

/** Of a profile: what is left out has its default. */
const rollout = faultless(rolloutFields, (input) => [
  ...zeroFaults(input),
  ...deadlineFaults(
    input,
    input.minReadySeconds ?? defaults.minReadySeconds,
    input.progressDeadlineSeconds ?? defaults.progressDeadlineSeconds,
  ),
])

/** Of an update: what is left out is the service's, which the rules know. */
export const rolloutUpdate = faultless(rolloutFields, (input) => [
  ...zeroFaults(input),
  ...deadlineFaults(input, input.minReadySeconds, input.progressDeadlineSeconds),
])

function zeroFaults({ maxSurge, maxUnavailable }: RolloutInput): Fault[] {
  if (!isZero(maxSurge) || !isZero(maxUnavailable)) return []
  return [{ message: 'maxSurge and maxUnavailable are both 0: no rollout could move. Allow at least 1 of one of them.' }]
}

function deadlineFaults(input: RolloutInput, ready: number | null | undefined, deadline: number | null | undefined): Fault[] {
  if (typeof ready !== 'number' || typeof deadline !== 'number' || deadline > ready) return []
  const path = [typeof input.progressDeadlineSeconds === 'number' ? 'progressDeadlineSeconds' : 'minReadySeconds']
  return [{ path, message: `progressDeadlineSeconds is ${deadline} and minReadySeconds ${ready}: the deadline must be the longer one.` }]
}

/** What an update says of its rollout, and nothing of what it does not. */
export function rolloutOf(input: RolloutInput | null | undefined): Partial<RolloutSettings> {
  const maxSurge = limitOf(input?.maxSurge)
  const maxUnavailable = limitOf(input?.maxUnavailable)
  const { minReadySeconds, progressDeadlineSeconds, autoRollback } = input ?? {}
  return {
    ...(maxSurge === null ? {} : { maxSurge }),
    ...(maxUnavailable === null ? {} : { maxUnavailable }),
    ...(typeof minReadySeconds === 'number' ? { minReadySeconds } : {}),
    ...(typeof progressDeadlineSeconds === 'number' ? { progressDeadlineSeconds } : {}),
    ...(typeof autoRollback === 'boolean' ? { autoRollback } : {}),
  }
}

const backoff = faultless(
  z.object({
    baseSeconds: whole('the seconds of the first wait', bounds.backoffSeconds).nullish(),
    maxSeconds: whole('the seconds of the longest wait', bounds.backoffSeconds).nullish(),
    resetAfterSeconds: whole('the seconds of being available', bounds.backoffResetAfterSeconds).nullish(),
  }),
  ({ baseSeconds, maxSeconds }) => {
    const base = baseSeconds ?? defaults.backoffBaseSeconds
    const max = maxSeconds ?? defaults.backoffMaxSeconds
    if (base <= max) return []
    const path = [typeof maxSeconds === 'number' ? 'maxSeconds' : 'baseSeconds']
    return [{ path, message: `baseSeconds is ${base} and maxSeconds ${max}: the longest wait may not be shorter than the first.` }]
  },
)

export const settings = z.object({
  replicas: whole('replicas', bounds.replicas).nullish(),
  spread: z
    .object({ mode: z.enum(['NONE', 'BEST_EFFORT', 'STRICT']), maxPerHost: whole('replicas per host', bounds.maxPerHost).nullish() })
    .nullish(),
  rollout: rollout.nullish(),
  backoff: backoff.nullish(),
})

/** The settings with their defaults: R1 for the limits, R8 for the deadline, R10 for the backoff. */
export function settingsOf(input: z.output<typeof settings> | null | undefined, ports: readonly PortDeclaration[]): Settings {
  const spreadMode = input?.spread?.mode ?? 'BEST_EFFORT'
  return {
    replicas: input?.replicas ?? 1,
    spreadMode,
    maxPerHost: input?.spread?.maxPerHost ?? 1,
    ...limitsOf(input?.rollout, ports, spreadMode),
    minReadySeconds: input?.rollout?.minReadySeconds ?? defaults.minReadySeconds,
    progressDeadlineSeconds: input?.rollout?.progressDeadlineSeconds ?? defaults.progressDeadlineSeconds,
    autoRollback: input?.rollout?.autoRollback ?? false,
    backoffBaseSeconds: input?.backoff?.baseSeconds ?? defaults.backoffBaseSeconds,
    backoffMaxSeconds: input?.backoff?.maxSeconds ?? defaults.backoffMaxSeconds,
    backoffResetAfterSeconds: input?.backoff?.resetAfterSeconds ?? defaults.backoffResetAfterSeconds,
  }
}

function limitsOf(
  input: z.output<typeof rollout> | null | undefined,
  ports: readonly PortDeclaration[],
  spreadMode: Settings['spreadMode'],
) {
  const standard = defaultLimits(ports, spreadMode)
  const maxUnavailable = limitOf(input?.maxUnavailable) ?? standard.maxUnavailable
  // R1: an explicit "none unavailable" is obeyed. Beside a surge of 0 by default it would be taken for 1.
  const surge = isZero(input?.maxUnavailable) && isZero(standard.maxSurge) ? { percent: 25 } : standard.maxSurge
  return { maxSurge: limitOf(input?.maxSurge) ?? surge, maxUnavailable }
}

function limitOf(input: LimitInput | null | undefined): Limit | null {
  if (typeof input?.count === 'number') return { count: input.count }
  return typeof input?.percent === 'number' ? { percent: input.percent } : null
}

function isZero(limit: LimitInput | null | undefined): boolean {
  return limit !== null && limit !== undefined && (limit.count ?? limit.percent) === 0
}
