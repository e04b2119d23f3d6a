import { canonicalJson } from '../../model/canonicalJson.ts'
import type { Overrides, Replaceable } from '../../model/content.ts'
import type { UpdateIntent } from '../../model/intent.ts'
import { listed } from '../../model/listed.ts'
import { changedParts } from '../../model/metadata.ts'
import type { Outcome } from '../../model/outcome.ts'
import { type InputIssue, invalidInput } from '../../model/refusal.ts'
import type { Version } from '../../model/service.ts'
import type { Settings } from '../../model/settings.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, isDeleting, targetOf } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { conflict, deleting, markSpec } from '../draft/specGuards.ts'
import { retarget } from '../rollout/retarget.ts'
import { rearm } from '../rollout/rollout.ts'
import { cutWatch } from '../rollout/watch.ts'
import { mergeContent } from '../version/content.ts'
import { contentDigest } from '../version/contentDigest.ts'
import { changedEnvironment, hiddenIssues, withKeptSecrets } from '../version/environment.ts'
import { mergedIssues } from '../version/mergedIssues.ts'
import type { VersionBody } from '../version/version.ts'
import { overLimit, setReplicas } from './scale.ts'
import { changedOwnSettings, sameSettings, settingsInForce, settingsIssues } from './settings.ts'

/**
 * Changes what a service runs, its settings, what is noted about it, its queue or its replicas in one commit, the replicas first (R4). Another
 * profile revision or other content makes a new version; settings alone become new limits of the rollout in progress
 * (R8). NO_CHANGE if nothing differs.
 */
export function update(draft: Draft, intent: UpdateIntent, ctx: Context): Outcome {
  const { name } = draft.base
  const { actor, replicas } = intent
  if (isDeleting(draft)) return deleting(draft, 'it cannot be updated')
  const objection = conflict(draft, intent.expectedRevision)
  if (objection !== null) return objection
  const before = draft.columns
  const target = targetOf(draft)
  const { body, issues: unknown } = updatedBody(target, intent)
  const isSame = contentDigest(body.content) === target.contentDigest
  const isNew = !isSame || body.profileRevisionId !== before.profileRevisionId
  const { template, content } = body
  const ownSettings = changedOwnSettings(template, before.ownSettings, intent.settings, content.ports)
  const settings = settingsInForce(template, ownSettings, content.ports)
  const issues = [...settingsFaults(settings, intent), ...unknown, ...(isNew ? contentIssues(body, intent) : [])]
  if (issues.length > 0) return { kind: 'refused', refusal: invalidInput(issues) }
  const scales = replicas !== null && replicas !== before.desiredReplicas
  const excess = scales && replicas > before.desiredReplicas ? overLimit(draft, replicas) : null
  if (excess !== null) return { kind: 'refused', refusal: excess }
  const resets =
    isNew ||
    !sameSettings(settings, before.settings) ||
    canonicalJson(ownSettings) !== canonicalJson(before.ownSettings)
  const { queue } = intent
  const moves = queue !== null && queue.id !== before.queueId
  const noted = changedParts(before, intent.metadata)
  if (!scales && !resets && !moves && noted.length === 0) {
    const message = `Service ${name} runs this already, as version ${target.number}: nothing would change.`
    return { kind: 'refused', refusal: { code: 'NO_CHANGE', message, path: ['input'] } }
  }
  if (scales) setReplicas(draft, replicas, actor, ctx)
  if (moves) {
    draft.columns = { ...draft.columns, queueId: queue.id }
    draft.wakesPlacement = true
    recordEvent(draft, 'SERVICE_UPDATED', `${actor} moved ${name} to the queue ${queue.name}.`, actor)
  }
  if (noted.length > 0) {
    draft.columns = { ...draft.columns, ...intent.metadata }
    recordEvent(draft, 'SERVICE_UPDATED', `${actor} changed the ${listed(noted)} of ${name}.`, actor)
  }
  if (resets) draft.columns = { ...draft.columns, settings, ownSettings }
  if (isNew) {
    if (intent.startPaused) draft.columns = { ...draft.columns, paused: true }
    const version = retarget(draft, { body, origin: 'UPDATE', actor, rolloutId: intent.rolloutId }, ctx)
    const kept = isSame ? `: it has the content of version ${target.number}, so its replicas stay` : ''
    recordEvent(draft, 'SERVICE_UPDATED', `${actor} updated ${name} to version ${version.number}${kept}.`, actor)
  } else if (resets) {
    cutWatch(draft)
    rearm(draft, ctx.now)
    recordEvent(draft, 'SERVICE_UPDATED', `${actor} changed the settings of ${name}.`, actor)
  }
  markSpec(draft)
  return { kind: 'done', changed: true }
}

/** The fault lies in the settings that the update gives, and in the revision where it gives none that is at fault. */
function settingsFaults(settings: Settings, { settings: change, profile }: UpdateIntent): InputIssue[] {
  const given = Object.fromEntries(Object.keys(change).map((name) => [name, settings[name as keyof Settings]]))
  const issues = settingsIssues(settings, given)
  if (issues.length > 0 || profile === null)
    return issues.map(({ path, message }) => ({ path: ['input', 'settings', ...path], message }))
  return settingsIssues(settings, settings).map(({ message }) => ({ path: ['input', 'profileRevision'], message }))
}

/**
 * Judges the merged content (R13). The fault lies in what the update gives, and in the revision where it gives nothing
 * that is at fault.
 */
function contentIssues({ content, overrides }: VersionBody, { overrides: change }: UpdateIntent): InputIssue[] {
  const given = change.env ?? change.setEnv ?? []
  const environment = given.length === 0 ? null : change.env ? 'env' : 'setEnv'
  const otherwise = change.ports ? 'ports' : 'profileRevision'
  const hidden = hiddenIssues(overrides).map(({ message }) => ({ path: ['input', 'unsetEnv'], message }))
  const merged = mergedIssues(content, overrides.env).map(({ path: [field, at, ...path], message }) => {
    if (field !== 'env') {
      const isGiven = change[field as 'readiness'] !== undefined && change[field as 'readiness'] !== null
      return { path: isGiven ? ['input', `${field}`, `${at}`, ...path] : ['input', otherwise], message }
    }
    if (at === undefined) return { path: ['input', environment ?? otherwise], message }
    const position = given.findIndex(({ name }) => name === overrides.env[Number(at)]?.name)
    const isGiven = position >= 0 && environment !== null
    return { path: isGiven ? ['input', environment, `${position}`, ...path] : ['input', otherwise], message }
  })
  return [...merged, ...hidden]
}

/** Lays an update over the target. */
function updatedBody(
  target: Version,
  { profile, overrides: change }: Pick<UpdateIntent, 'profile' | 'overrides'>,
): { readonly body: VersionBody; readonly issues: readonly InputIssue[] } {
  const template = profile ?? target.template
  const { env: given, setEnv, unsetEnv, ...values } = change
  const env = withKeptSecrets(given ?? [], target.content.env)
  const set = withKeptSecrets(setEnv ?? [], target.content.env)
  const own = changedEnvironment(target.overrides, template.content.env, {
    env: given && env.variables,
    setEnv: set.variables,
    unsetEnv,
  })
  const changed = Object.entries(values).filter(([, value]) => value !== undefined) as [keyof Replaceable, unknown][]
  const overrides: Overrides = { ...target.overrides, ...Object.fromEntries(changed), ...own }
  return {
    body: {
      profileRevisionId: profile?.id ?? target.profileRevisionId,
      content: mergeContent(template.content, overrides),
      overrides,
      template: { content: template.content, settings: template.settings },
    },
    issues: [...issuesOf('env', env.issues), ...issuesOf('setEnv', set.issues)],
  }
}

function issuesOf(field: string, issues: readonly InputIssue[]): InputIssue[] {
  return issues.map(({ path, message }) => ({ path: ['input', field, ...path], message }))
}
