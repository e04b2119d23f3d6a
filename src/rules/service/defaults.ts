import type { Content, Probe, ProbeAction, RestartPolicy, StopPolicy } from '../../model/content.ts'
import type { RolloutSettings, Settings } from '../../model/settings.ts'
import { type Nullish, withoutNulls } from '../../model/withoutNulls.ts'
import { defaultLimits } from '../rollout/limits.ts'
import { withRollout } from './settings.ts'

// The values that a profile has where it gives none.

/**
 * The watch is R6's, the deadline R8's, the backoff R10's, the spread R14's. The limits (R1) and `minReadySeconds` (R9)
 * depend on what else a profile says.
 */
export const defaultSettings = {
  replicas: 1,
  spreadMode: 'BEST_EFFORT',
  maxPerHost: 1,
  progressDeadlineSeconds: 600,
  autoRollback: false,
  watchSeconds: 60,
  backoffBaseSeconds: 10,
  backoffMaxSeconds: 300,
  backoffResetAfterSeconds: 600,
} as const satisfies Omit<Settings, 'maxSurge' | 'maxUnavailable' | 'minReadySeconds'>

/** R9: a process that exists says little of whether it will stay, so without a probe it is waited for. */
export const defaultMinReadySeconds = { probed: 0, unprobed: 5 } as const

export const defaultContent = {
  cpuMillis: 100,
  memoryMiB: 128,
  /** There are 3 restarts within 600 s: the first comes at once, the others after 1 s. */
  restart: { mode: 'ALWAYS', maxAttempts: 3, windowSeconds: 600, delaySeconds: 1 },
  stop: { signal: 'TERM', drainSeconds: 3, graceSeconds: 10, onLostContact: 'KEEP' },
} as const satisfies Partial<Content>

/** The values are those of Kubernetes. */
export const defaultProbe = {
  initialDelaySeconds: 0,
  periodSeconds: 10,
  timeoutSeconds: 1,
  failureThreshold: 3,
  successThreshold: 1,
} as const satisfies Omit<Probe, 'action'>

/** The settings in groups, as a profile writes them. */
export interface WrittenSettings {
  readonly replicas?: number | null | undefined
  readonly spread?:
    | ({ readonly mode: Settings['spreadMode'] } & Nullish<Pick<Settings, 'maxPerHost'>>)
    | null
    | undefined
  readonly rollout?: Nullish<RolloutSettings> | null | undefined
  readonly backoff?: Nullish<{ baseSeconds: number; maxSeconds: number; resetAfterSeconds: number }> | null | undefined
}

export function givenSettings({ replicas, spread, rollout, backoff }: WrittenSettings): Partial<Settings> {
  return withoutNulls<Settings>({
    replicas,
    spreadMode: spread?.mode,
    maxPerHost: spread?.maxPerHost,
    ...rollout,
    backoffBaseSeconds: backoff?.baseSeconds,
    backoffMaxSeconds: backoff?.maxSeconds,
    backoffResetAfterSeconds: backoff?.resetAfterSeconds,
  })
}

export function settingsWith(
  explicit: Partial<Settings>,
  { ports, readiness }: Pick<Content, 'ports' | 'readiness'>,
): Settings {
  const spreadMode = explicit.spreadMode ?? defaultSettings.spreadMode
  const minReadySeconds = readiness === null ? defaultMinReadySeconds.unprobed : defaultMinReadySeconds.probed
  const defaults = { ...defaultSettings, ...defaultLimits(ports, spreadMode), spreadMode, minReadySeconds }
  return withRollout(defaults, explicit, ports)
}

export function restartWith(explicit: Nullish<RestartPolicy>): RestartPolicy {
  return { ...defaultContent.restart, ...withoutNulls<RestartPolicy>(explicit) }
}

export function stopWith(explicit: Nullish<StopPolicy>): StopPolicy {
  return { ...defaultContent.stop, ...withoutNulls<StopPolicy>(explicit) }
}

export function probeWith(action: ProbeAction, explicit: Nullish<Omit<Probe, 'action'>>): Probe {
  return { action, ...defaultProbe, ...withoutNulls<Omit<Probe, 'action'>>(explicit) }
}
