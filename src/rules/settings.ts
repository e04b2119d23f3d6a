import type { Content } from '../model/content.ts'
import type { InputIssue } from '../model/refusal.ts'
import type { Limit, RolloutSettings, Settings } from '../model/settings.ts'
import { crowds } from './limits.ts'

/**
 * Settings with those of an update's rollout over them. Beside a surge that is 0 because the replicas could not stand side by side, an explicit
 * "none unavailable" is obeyed by a surge of 25 % (R1): taken for 1 it would be disobeyed, and refused it could not be said.
 */
export function withRollout(settings: Settings, rollout: Partial<RolloutSettings>, content: Content): Settings {
  const merged = { ...settings, ...rollout }
  const asksForNone = rollout.maxUnavailable !== undefined && rollout.maxSurge === undefined && isZero(rollout.maxUnavailable)
  const isCrowded = isZero(settings.maxSurge) && crowds(content.ports, settings.spreadMode)
  return asksForNone && isCrowded ? { ...merged, maxSurge: { percent: 25 } } : merged
}

/** What of an update's rollout settings is not allowed beside the others, as it would be. */
export function settingsIssues(settings: Settings, rollout: Partial<RolloutSettings>): InputIssue[] {
  const issues: InputIssue[] = []
  const { maxSurge, maxUnavailable, minReadySeconds, progressDeadlineSeconds } = settings
  if ((rollout.maxSurge ?? rollout.maxUnavailable) !== undefined && isZero(maxSurge) && isZero(maxUnavailable)) {
    const field = rollout.maxSurge === undefined ? 'maxUnavailable' : 'maxSurge'
    const message = 'maxSurge and maxUnavailable would both be 0: no rollout could move. Allow at least 1 of one of them.'
    issues.push({ path: ['input', 'rollout', field], message })
  }
  if ((rollout.minReadySeconds ?? rollout.progressDeadlineSeconds) !== undefined && progressDeadlineSeconds <= minReadySeconds) {
    const field = rollout.progressDeadlineSeconds === undefined ? 'minReadySeconds' : 'progressDeadlineSeconds'
    const message = `progressDeadlineSeconds would be ${progressDeadlineSeconds} and minReadySeconds ${minReadySeconds}: the deadline must be the longer one.`
    issues.push({ path: ['input', 'rollout', field], message })
  }
  return issues
}

export function sameSettings(a: Settings, b: Settings): boolean {
  return (Object.keys(a) as (keyof Settings)[]).every((key) => {
    const [left, right] = [a[key], b[key]]
    return typeof left === 'object' && typeof right === 'object' ? sameLimit(left, right) : left === right
  })
}

function sameLimit(a: Limit, b: Limit): boolean {
  return 'count' in a ? 'count' in b && a.count === b.count : 'percent' in b && a.percent === b.percent
}

function isZero(limit: Limit): boolean {
  return ('count' in limit ? limit.count : limit.percent) === 0
}
