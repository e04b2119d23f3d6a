import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { PortDeclaration } from '../../model/content.ts'
import type { Limit, RolloutSettings, Settings } from '../../model/settings.ts'
import { withoutNulls } from '../../model/withoutNulls.ts'
import { givenSettings, settingsWith } from '../../rules/service/defaults.ts'
import { settingsIssues } from '../../rules/service/settings.ts'
import { faultless, whole } from '../kit/values.ts'

const limit = z.object({
  count: whole('replicas of a limit', bounds.limitCount).nullish(),
  percent: whole('percentages', bounds.percent).nullish(),
})

const rollout = z.object({
  maxSurge: limit.nullish(),
  maxUnavailable: limit.nullish(),
  minReadySeconds: whole('the seconds of being ready', bounds.minReadySeconds).nullish(),
  progressDeadlineSeconds: whole('the seconds without progress', bounds.progressDeadlineSeconds).nullish(),
  autoRollback: z.boolean().nullish(),
})

/** Of an update: what is left out is the service's, which the rules know. */
export const rolloutUpdate = faultless(rollout, (input) => {
  const said = rolloutOf(input)
  return settingsIssues(said, said).map(({ path: [, ...path], message }) => ({ path, message }))
})

/** What an update says of its rollout, and nothing of what it does not. */
export function rolloutOf(input: z.output<typeof rollout> | null | undefined): Partial<RolloutSettings> {
  return withoutNulls<RolloutSettings>({
    ...input,
    maxSurge: limitOf(input?.maxSurge),
    maxUnavailable: limitOf(input?.maxUnavailable),
  })
}

function limitOf(input: z.output<typeof limit> | null | undefined): Limit | null {
  if (typeof input?.count === 'number') return { count: input.count }
  return typeof input?.percent === 'number' ? { percent: input.percent } : null
}

const parts = z.object({
  replicas: whole('replicas', bounds.replicas).nullish(),
  spread: z
    .object({
      mode: z.enum(['NONE', 'BEST_EFFORT', 'STRICT']),
      maxPerHost: whole('replicas per host', bounds.maxPerHost).nullish(),
    })
    .nullish(),
  rollout: rollout.nullish(),
  backoff: z
    .object({
      baseSeconds: whole('the seconds of the first wait', bounds.backoffSeconds).nullish(),
      maxSeconds: whole('the seconds of the longest wait', bounds.backoffSeconds).nullish(),
      resetAfterSeconds: whole('the seconds of being available', bounds.backoffResetAfterSeconds).nullish(),
    })
    .nullish(),
})

/** Of a profile: what is left out has its default. */
export const settings = faultless(parts, (input) => {
  const said = saidOf(input)
  // Ports change the limits that are left out, and never to 0 beside one that is said to be 0.
  return settingsIssues(settingsWith(said, []), said)
})

export function settingsOf(
  input: z.output<typeof settings> | null | undefined,
  ports: readonly PortDeclaration[],
): Settings {
  return settingsWith(saidOf(input ?? {}), ports)
}

function saidOf(input: z.output<typeof parts>): Partial<Settings> {
  return givenSettings({ ...input, rollout: rolloutOf(input.rollout) })
}
