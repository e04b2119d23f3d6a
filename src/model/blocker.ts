import type { BlockReason } from '../generated/prisma/enums.ts'
import type { HostId, Instant, ProjectId, ReplicaId } from './id.ts'

/** The reason why something waits, as a value with a message. "Not now" is always a blocker; it is never left out. */
export interface Blocker {
  readonly reason: BlockReason
  /** The sentence says what waits, for what, and what would help. */
  readonly message: string
  /** What somebody can do about it, as a sentence of its own; left out where only time helps. */
  readonly remedy?: string
  /** How many replicas it holds. */
  readonly count: number
  readonly since: Instant
  /** When it ends without anybody's doing; null where that is not known. */
  readonly until: Instant | null
  /** The one replica it is about; null where there is none to name. */
  readonly replica: ReplicaId | null
  /** What else it is about: the host that is in the way, or the project whose quota is used up. */
  readonly objects?: readonly BlockerObject[]
  /** Of a replica's own QUOTA: how many replicas of the project have to end before there is room for it. */
  readonly toStop?: number
}

export interface BlockerObject {
  readonly type: 'Host' | 'Project'
  readonly id: HostId | ProjectId
}

/** So many objects a blocker names at most: more would not be read. */
export const mostObjects = 5

/** The two are equal in every field. */
export function sameBlocker(a: Blocker | null, b: Blocker | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.reason === b.reason &&
    a.message === b.message &&
    a.remedy === b.remedy &&
    a.count === b.count &&
    a.since === b.since &&
    a.until === b.until &&
    a.replica === b.replica &&
    a.toStop === b.toStop &&
    sameObjects(a.objects, b.objects)
  )
}

function sameObjects(a: Blocker['objects'] = [], b: Blocker['objects'] = []): boolean {
  return a.length === b.length && a.every(({ type, id }, at) => type === b[at]?.type && id === b[at]?.id)
}

/** The two lists are equal, blocker by blocker. */
export function sameBlockers(a: readonly Blocker[], b: readonly Blocker[]): boolean {
  return a.length === b.length && a.every((blocker, at) => sameBlocker(blocker, b[at] ?? null))
}
