import { troubledMinReadySeconds } from '../../model/bounds.ts'
import type { Content } from '../../model/content.ts'
import type { Settings } from '../../model/settings.ts'
import { defaultSettings } from './defaults.ts'

/**
 * Says in one sentence each which settings are allowed and can't do what they say, and what to set instead (R6, R9).
 * They are judged with the content that they keep.
 */
export function settingsWarnings(settings: Settings, content: Pick<Content, 'readiness' | 'restart'>): string[] {
  return [...availabilityWarnings(settings, content), ...rollbackWarnings(settings, content)]
}

function availabilityWarnings(
  { minReadySeconds }: Settings,
  { readiness }: Pick<Content, 'readiness' | 'restart'>,
): string[] {
  if (readiness !== null || minReadySeconds > 0) return []
  return [
    'minReadySeconds is 0 and there is no readiness probe, so a replica counts as available as soon as its process exists: a release that crashes at its start replaces all that works. Set minReadySeconds to 5 or more, or give a readiness probe.',
  ]
}

function rollbackWarnings(
  { autoRollback, watchSeconds, minReadySeconds, progressDeadlineSeconds }: Settings,
  { readiness, restart }: Pick<Content, 'readiness' | 'restart'>,
): string[] {
  if (!autoRollback) {
    return watchSeconds === defaultSettings.watchSeconds
      ? []
      : [`watchSeconds is ${watchSeconds} and autoRollback is off, so nothing is watched: turn autoRollback on.`]
  }
  const warnings: string[] = []
  if (watchSeconds === 0 && readiness === null) {
    warnings.push(
      `autoRollback is on, watchSeconds is 0 and there is no readiness probe, so a release that crashes later than ${minReadySeconds} s after its start is not rolled back. Set watchSeconds to ${defaultSettings.watchSeconds}, or give a readiness probe.`,
    )
  }
  if (watchSeconds > 0 && restart.mode !== 'NEVER' && restart.maxAttempts > 1 && restart.delaySeconds >= watchSeconds) {
    warnings.push(
      `watchSeconds is ${watchSeconds} and delaySeconds of restart ${restart.delaySeconds}, so the watch is over before a replica is restarted in place for the second time: autoRollback can't see a crash loop after completion. Set watchSeconds to more than ${restart.delaySeconds}.`,
    )
  }
  if (progressDeadlineSeconds <= troubledMinReadySeconds) {
    warnings.push(
      `autoRollback is on and progressDeadlineSeconds is ${progressDeadlineSeconds}: after one failure a replica is available only after ${troubledMinReadySeconds} s, so a single failure rolls the release back. Set progressDeadlineSeconds to more than ${troubledMinReadySeconds}.`,
    )
  }
  return warnings
}
