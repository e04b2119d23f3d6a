import type { HostId, Revision } from '../../model/id.ts'
import type { Database } from '../../store/database/database.ts'
import { readHostFacts } from '../../store/read/readListFacts.ts'
import { partsOf } from '../follower.ts'
import type { ListFrames } from '../listFollower.ts'
import { listPart } from './serviceFrames.ts'

type Kind = 'SNAPSHOT' | 'DELTA' | 'BOOKMARK'

/** A view decides which hosts a list shows. */
export interface HostListView {
  /**
   * Of `ids` (null: of all hosts) those that can be in the list at any time of their life, with whether they are in it
   * now.
   */
  readonly judge: (
    ids: readonly HostId[] | null,
  ) => Promise<readonly { readonly id: HostId; readonly shown: boolean }[]>
}

/** A part of a frame about hosts; they are read when it is made, never older than `revision`. */
export interface HostFrame {
  readonly kind: Kind
  readonly revision: Revision
  /** Whether this is the final part. */
  readonly last: boolean
  readonly hosts: readonly HostId[]
  /** Hosts that changed and are not in the list, perhaps not for the first time. */
  readonly removed: readonly HostId[]
}

/** A SNAPSHOT of the hosts in the view, then those that changed, or whose replicas came or went. */
export function hostFrames(database: Database, view: HostListView): ListFrames<HostFrame, readonly HostId[]> {
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
      const judged = await view.judge(whole.kind === 'SNAPSHOT' ? null : whole.hosts)
      const there = judged.filter(({ shown }) => shown).map(({ id }) => id)
      const removed = whole.kind === 'SNAPSHOT' ? [] : judged.filter(({ shown }) => !shown).map(({ id }) => id)
      if (whole.kind === 'DELTA' && judged.length === 0) return []
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
