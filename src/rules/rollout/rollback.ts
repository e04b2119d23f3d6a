import type { RollbackIntent } from '../../model/intent.ts'
import type { Outcome } from '../../model/outcome.ts'
import type { Version } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, isDeleting, openRollout, targetOf, versionOf } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { conflict, deleting, invalidState, markSpec } from '../draft/specGuards.ts'
import { retarget } from './retarget.ts'
import { previousVersionOf } from './watch.ts'

/**
 * R6: goes back to an earlier version, under a new number. Neither the number of replicas nor the settings are rolled
 * back, and a pause stays.
 */
export function rollback(draft: Draft, intent: RollbackIntent, ctx: Context): Outcome {
  const { name } = draft.base
  const { actor, rolloutId } = intent
  if (isDeleting(draft)) return deleting(draft, 'it cannot be rolled back')
  const objection = conflict(draft, intent.expectedRevision)
  if (objection !== null) return objection
  const to = intent.to ?? previousOf(draft)
  const target = targetOf(draft)
  if (to === null) {
    const only =
      draft.columns.versionNumber === 1 ? 'it has one version only' : 'no version with other content was ever complete'
    const help = draft.columns.versionNumber === 1 ? 'Update it instead.' : 'Name a version by toVersion.'
    return invalidState(`Service ${name} cannot be rolled back: ${only}. ${help}`)
  }
  if (to.contentNumber === target.contentNumber) {
    const same = to.number === target.number ? '' : `, whose content version ${target.number} has`
    const message = `Service ${name} is at version ${to.number} already${same}: there is nothing to roll back.`
    return { kind: 'refused', refusal: { code: 'NO_CHANGE', message, path: ['input', 'toVersion'] } }
  }
  const { number } = retarget(draft, { body: to, origin: 'ROLLBACK', actor, rolloutId }, ctx)
  recordEvent(draft, 'ROLLOUT', `${actor} rolled ${name} back to version ${to.number}, as version ${number}.`, actor)
  markSpec(draft)
  return { kind: 'done', changed: true }
}

/**
 * Finds the version that an unfinished rollout came from, or else the last completed version with other content; null
 * when there is none.
 */
function previousOf(draft: Draft): Version | null {
  const number = openRollout(draft) === null ? previousVersionOf(draft) : draft.rollout.fromVersion
  return number === null ? null : versionOf(draft, number)
}
