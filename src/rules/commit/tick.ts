import type { Outcome } from '../../model/outcome.ts'
import type { Context } from '../draft/context.ts'
import type { Draft } from '../draft/draft.ts'

/** Timers are due. Every commit does what is due, so that there is nothing to do here but to say whether anything is. */
export function tick(draft: Draft, ctx: Context): Outcome {
  const changed = [...draft.base.timers.values()].some((dueAt) => dueAt <= ctx.now)
  return { kind: 'done', changed }
}
