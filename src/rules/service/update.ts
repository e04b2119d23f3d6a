import type { Content, Overrides } from '../../model/content.ts'
import type { UpdateIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import { type InputIssue, invalidInput } from '../../model/refusal.ts'
import type { Version } from '../../model/service.ts'
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
import { sameSettings, settingsIssues, withRollout } from './settings.ts'

/**
 * Changes what a service runs, its rollout settings or its replicas in one commit, the replicas first (R4). Another
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
  const settings = withRollout(isNew ? body.template.settings : before.settings, intent.rollout, body.content.ports)
  const issues = [
    ...settingsIssues(settings, intent.rollout).map(({ path, message }) => ({ path: ['input', ...path], message })),
    ...unknown,
    ...(isNew ? contentIssues(body, intent) : []),
  ]
  if (issues.length > 0) return { kind: 'refused', refusal: invalidInput(issues) }
  const scales = replicas !== null && replicas !== before.desiredReplicas
  const excess = scales && replicas > before.desiredReplicas ? overLimit(draft, replicas) : null
  if (excess !== null) return { kind: 'refused', refusal: excess }
  const resets = isNew || !sameSettings(settings, before.settings)
  if (!scales && !resets) {
    const message = `Service ${name} runs this already, as version ${target.number}: nothing would change.`
    return { kind: 'refused', refusal: { code: 'NO_CHANGE', message, path: ['input'] } }
  }
  if (scales) setReplicas(draft, replicas, actor, ctx)
  if (resets) draft.columns = { ...draft.columns, settings }
  if (isNew) {
    if (intent.startPaused) draft.columns = { ...draft.columns, paused: true }
    const version = retarget(draft, { body, cause: 'UPDATE', actor, rolloutId: intent.rolloutId }, ctx)
    const kept = isSame ? `: it has the content of version ${target.number}, so its replicas stay` : ''
    recordEvent(draft, 'SERVICE_UPDATED', `${actor} updated ${name} to version ${version.number}${kept}.`, actor)
  } else if (resets) {
    cutWatch(draft)
    rearm(draft, ctx.now)
    recordEvent(draft, 'SERVICE_UPDATED', `${actor} changed the rollout settings of ${name}.`, actor)
  }
  markSpec(draft)
  return { kind: 'done', changed: true }
}

/**
 * Judges the merged content (R13). The fault lies in the variables that the update gives, and in the revision where it
 * gives none that is at fault.
 */
function contentIssues({ content, overrides }: VersionBody, { overrides: change }: UpdateIntent): InputIssue[] {
  const given = change.env ?? change.setEnv ?? []
  const field = given.length === 0 ? 'profileRevision' : change.env ? 'env' : 'setEnv'
  const merged = mergedIssues(content, overrides.env).map(({ path: [at, ...path], message }) => {
    if (at === undefined) return { path: ['input', field], message }
    const position = given.findIndex(({ name }) => name === overrides.env[Number(at)]?.name)
    return { path: position < 0 ? ['input', 'profileRevision'] : ['input', field, String(position), ...path], message }
  })
  return [...merged, ...hiddenIssues(overrides).map(({ message }) => ({ path: ['input', 'unsetEnv'], message }))]
}

/** Lays an update over the target. */
function updatedBody(
  target: Version,
  { profile, overrides: change }: Pick<UpdateIntent, 'profile' | 'overrides'>,
): { readonly body: VersionBody; readonly issues: readonly InputIssue[] } {
  const template =
    profile === null
      ? target.template
      : { command: profile.content.command, env: profile.content.env, settings: profile.settings }
  const base: Content = profile?.content ?? { ...target.content, command: template.command, env: template.env }
  const env = withKeptSecrets(change.env ?? [], target.content.env)
  const set = withKeptSecrets(change.setEnv ?? [], target.content.env)
  const own = changedEnvironment(target.overrides, base.env, {
    env: change.env && env.variables,
    setEnv: set.variables,
    unsetEnv: change.unsetEnv,
  })
  const overrides: Overrides = {
    command: change.command === undefined ? target.overrides.command : change.command,
    ...own,
  }
  return {
    body: {
      profileRevisionId: profile?.id ?? target.profileRevisionId,
      content: mergeContent(base, overrides),
      overrides,
      template,
    },
    issues: [...issuesOf('env', env.issues), ...issuesOf('setEnv', set.issues)],
  }
}

function issuesOf(field: string, issues: readonly InputIssue[]): InputIssue[] {
  return issues.map(({ path, message }) => ({ path: ['input', field, ...path], message }))
}
