import type { HostId, Revision } from '../../model/id.ts'
import type { Database } from '../../store/database/database.ts'
import { readHostIds } from '../../store/read/readHostIds.ts'
import { readHostFacts } from '../../store/read/readListFacts.ts'
import { partsOf } from '../follower.ts'
import type { ListFrames } from '../listFollower.ts'
import { listPart } from './serviceFrames.ts'

type Kind = 'SNAPSHOT' | 'DELTA' | 'BOOKMARK'

/** A part of a frame about hosts; they are read when it is made, never older than `revision`. */
export interface HostFrame {
  readonly kind: Kind
  readonly revision: Revision
  /** Whether this is the final part. */
  readonly last: boolean
  readonly hosts: readonly HostId[]
  readonly removed: readonly HostId[]
}

/** A SNAPSHOT of all hosts, then those that changed, or whose replicas came or went. */
export function hostFrames(database: Database): ListFrames<HostFrame, readonly HostId[]> {
  const frame = (kind: Kind, revision: Revision, hosts: readonly HostId[]): HostFrame => ({
    kind,
    revision,
    last: true,
    hosts,
    removed: [],
  })
  return {
    snapshot: (revision) => frame('SNAPSHOT', revision, []),
    delta: (_from, revision, changes) => frame('DELTA', revision, [...new Set(changes.flat())]),
    bookmark: (revision) => frame('BOOKMARK', revision, []),
    expand: async (whole) => {
      if (whole.kind === 'BOOKMARK') return [whole]
      const there = await readHostIds(database, whole.kind === 'SNAPSHOT' ? null : whole.hosts)
      const known = new Set(there)
      const removed = whole.hosts.filter((id) => !known.has(id))
      return partsOf(there, listPart).map(({ part, last }) => ({
        ...whole,
        last,
        hosts: part,
        removed: last ? removed : [],
      }))
    },
    recall: async (cursor) => {
      const read = await readHostFacts(database, cursor)
      return read === null
        ? null
        : { head: read.head, changes: read.facts.map(({ revision, hosts }) => ({ revision, change: hosts })) }
    },
  }
}
