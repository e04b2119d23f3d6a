import type { EventKind } from '../../generated/prisma/enums.ts'
import type { Replica } from '../../model/service.ts'
import type { Draft } from './draft.ts'

/** The actor of everything that the rules and the workers do. */
export const controller = 'xce'

/** Records one sentence about the service. */
export function recordEvent(
  draft: Draft,
  kind: EventKind,
  message: string,
  actor: string = controller,
  count = 1,
): void {
  draft.events.push({
    kind,
    actor,
    why: draft.why,
    cause: null,
    count,
    predicate: null,
    message,
    hostId: null,
    replicas: [],
  })
}

/**
 * Records one sentence about one replica. `cause` is the same each time that it happens again, whatever differs in the
 * sentence; null for what happens to a replica at most once.
 */
export function recordReplicaEvent(
  draft: Draft,
  row: Replica,
  cause: string | null,
  message: string,
  actor: string = controller,
): void {
  const replicas = [{ id: row.id, index: row.index }]
  draft.events.push({
    kind: 'REPLICA',
    actor,
    why: draft.why,
    cause,
    count: 1,
    predicate: null,
    message,
    hostId: row.hostId,
    replicas,
  })
}

/** Records what probably happens to other replicas of this commit, too: they share one event. */
export function recordSharedEvent(draft: Draft, row: Replica, cause: string | null, one: string, many: string): void {
  const last = draft.events.at(-1)
  if (last?.predicate?.one === one) {
    if (last.hostId !== row.hostId) last.hostId = null
    last.replicas.push({ id: row.id, index: row.index })
    return
  }
  const replicas = [{ id: row.id, index: row.index }]
  const predicate = { one, many }
  const { hostId } = row
  draft.events.push({
    kind: 'REPLICA',
    actor: controller,
    why: null,
    cause,
    count: 1,
    predicate,
    message: '',
    hostId,
    replicas,
  })
}

/** Names replicas: "Replica 3 of web" or "Replicas 0–4, 7 and 9 of web". */
export function subjectOf(service: string, indexes: readonly number[]): string {
  const ranges = rangesOf([...indexes].sort((a, b) => a - b))
  const last = ranges.pop() ?? ''
  const list = ranges.length === 0 ? last : `${ranges.join(', ')} and ${last}`
  return `${indexes.length === 1 ? 'Replica' : 'Replicas'} ${list} of ${service}`
}

/** Joins sorted indexes to ranges such as "0–4" and "7". Two neighbours are written one by one. */
function rangesOf(indexes: readonly number[]): string[] {
  const ranges: string[] = []
  let from = 0
  for (let at = 1; at <= indexes.length; at++) {
    if (at < indexes.length && indexes[at] === (indexes[at - 1] ?? 0) + 1) continue
    if (at - from > 2) ranges.push(`${indexes[from]}–${indexes[at - 1]}`)
    else for (const index of indexes.slice(from, at)) ranges.push(String(index))
    from = at
  }
  return ranges
}
