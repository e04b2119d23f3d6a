import { shortestWorkSeconds } from '../../model/bounds.ts'
import type { Instant } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'

/**
 * R10: a replica that completes its work has not failed, unless it ran for less than `shortestWorkSeconds` since its worker
 * confirmed the start. An end that comes before that confirmation counts as too soon.
 */
export function isTooSoon({ startedAt }: Pick<Replica, 'startedAt'>, now: Instant): boolean {
  return startedAt === null || now - startedAt < shortestWorkSeconds * 1000
}

/** Says of a replica that completed its work too soon how long it ran, as a part of a sentence. */
export function tooSoonClause({ startedAt }: Pick<Replica, 'startedAt'>, now: Instant): string {
  const ran = startedAt === null ? 'at once' : `after ${Math.floor((now - startedAt) / 1000)} s`
  return `completed its work ${ran}, and less than ${shortestWorkSeconds} s counts as a failure`
}
