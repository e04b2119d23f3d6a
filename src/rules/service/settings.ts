import type { PortDeclaration, Template } from '../../model/content.ts'
import type { InputIssue } from '../../model/refusal.ts'
import type { Limit, OwnSettings, Settings, SettingsChange } from '../../model/settings.ts'
import { crowds, defaultLimits } from '../rollout/limits.ts'

/**
 * Lays `changes` over settings. If the surge is 0 only because the replicas could not stand side by side, an explicit
 * "none unavailable" is obeyed by a surge of 25 % (R1): to take it for 1 would disobey it, and to refuse it would leave
 * no way to ask for it.
 */
export function withRollout(
  settings: Settings,
  changes: Partial<Settings>,
  ports: readonly PortDeclaration[],
): Settings {
  const merged = { ...settings, ...changes }
  const asksForNone = changes.maxSurge === undefined && isZero(changes.maxUnavailable)
  const isCrowded = isZero(settings.maxSurge) && crowds(ports, settings.spreadMode)
  return asksForNone && isCrowded ? { ...merged, maxSurge: { percent: 25 } } : merged
}

/**
 * Finds what is not allowed in settings, as far as somebody changes it: `changes` names the changed fields, and
 * mistakes among the others were there before. A field that is not known yet is left out of `settings` and not judged.
 * Paths are those of a profile's settings.
 */
export function settingsIssues(settings: Partial<Settings>, changes: Partial<Settings>): InputIssue[] {
  const changedAmong = (...fields: readonly (keyof Settings)[]) =>
    fields.filter((field) => changes[field] !== undefined)
  const { maxSurge, maxUnavailable, minReadySeconds: ready, progressDeadlineSeconds: deadline } = settings
  const { backoffBaseSeconds: base, backoffMaxSeconds: max } = settings
  const issues: InputIssue[] = []
  const limits = changedAmong('maxSurge', 'maxUnavailable')
  if (limits.length > 0 && isZero(maxSurge) && isZero(maxUnavailable)) {
    const both = limits.length === 2 ? 'are both' : 'would both be'
    const message = `maxSurge and maxUnavailable ${both} 0: no rollout could move. Allow at least 1 of one of them.`
    issues.push({ path: ['rollout', ...(limits.length === 2 ? [] : limits)], message })
  }
  const [time, otherTime] = changedAmong('progressDeadlineSeconds', 'minReadySeconds')
  if (time !== undefined && deadline !== undefined && ready !== undefined && deadline <= ready) {
    const is = otherTime === undefined ? 'would be' : 'is'
    const message = `progressDeadlineSeconds ${is} ${deadline} and minReadySeconds ${ready}: the deadline must be the longer one.`
    issues.push({ path: ['rollout', time], message })
  }
  const [wait, otherWait] = changedAmong('backoffMaxSeconds', 'backoffBaseSeconds')
  if (wait !== undefined && base !== undefined && max !== undefined && base > max) {
    const is = otherWait === undefined ? 'would be' : 'is'
    const message = `baseSeconds ${is} ${base} and maxSeconds ${max}: the longest wait may not be shorter than the first.`
    issues.push({ path: ['backoff', wait === 'backoffMaxSeconds' ? 'maxSeconds' : 'baseSeconds'], message })
  }
  return issues
}

/**
 * The settings of a service that are in force: its own over those of its profile. A surge of its profile is 0 where only
 * the service's own ports or spread keep replicas from standing side by side (R1).
 */
export function settingsInForce(
  { content, settings }: Template,
  own: OwnSettings,
  ports: readonly PortDeclaration[],
): Settings {
  const spreadMode = own.spreadMode ?? settings.spreadMode
  const isCrowdedNow = crowds(ports, spreadMode) && !crowds(content.ports, settings.spreadMode)
  const base = isCrowdedNow ? { ...settings, ...defaultLimits(ports, spreadMode) } : settings
  return withRollout({ ...base, spreadMode }, own, ports)
}

/**
 * Changes a service's own settings. A setting that is given as it is in force anyhow does not become the service's own, so
 * all settings that were read can be sent back, and nothing changes.
 */
export function changedOwnSettings(
  template: Template,
  own: OwnSettings,
  change: SettingsChange,
  ports: readonly PortDeclaration[],
): OwnSettings {
  const given = Object.entries(change) as [keyof OwnSettings, unknown][]
  const isReset = new Set(given.filter(([, value]) => value === null).map(([name]) => name))
  const kept = Object.fromEntries(Object.entries(own).filter(([name]) => !isReset.has(name as keyof OwnSettings)))
  const otherwise = settingsInForce(template, kept, ports)
  const added = given.filter(
    ([name, value]) =>
      value !== null && value !== undefined && (name in kept || !sameSetting(value as Setting, otherwise[name])),
  )
  return { ...kept, ...Object.fromEntries(added) }
}

export function sameSettings(a: Settings, b: Settings): boolean {
  return (Object.keys(a) as (keyof Settings)[]).every((key) => sameSetting(a[key], b[key]))
}

type Setting = Settings[keyof Settings]

function sameSetting(left: Setting, right: Setting): boolean {
  return typeof left === 'object' && typeof right === 'object' ? sameLimit(left, right) : left === right
}

function sameLimit(a: Limit, b: Limit): boolean {
  return 'count' in a ? 'count' in b && a.count === b.count : 'percent' in b && a.percent === b.percent
}

function isZero(limit: Limit | undefined): boolean {
  return limit !== undefined && ('count' in limit ? limit.count : limit.percent) === 0
}
