import type { ServiceStatus } from '../../generated/prisma/enums.ts'
import type { Revision, ServiceId } from '../../model/id.ts'
import type { Database } from '../../store/database/database.ts'
import { readServiceListFacts } from '../../store/read/readListFacts.ts'
import { partsOf } from '../follower.ts'
import type { ListFrames } from '../listFollower.ts'
import type { ServiceListChange } from '../serviceListChange.ts'
import { listPart } from './serviceFrames.ts'

type Kind = 'SNAPSHOT' | 'DELTA' | 'BOOKMARK'

/** A view decides which services a list shows. */
export interface ServiceListView {
  /** Null when the status does not matter. */
  readonly statuses: ReadonlySet<ServiceStatus> | null
  /** Of `ids` (null: of all services that are not gone, and with the status) those for which the conditions hold that never change for a service. */
  readonly matching: (ids: readonly ServiceId[] | null) => Promise<readonly ServiceId[]>
  /** Of `ids` those for which the other conditions hold now, such as those on labels; null when there are none. */
  readonly present: ((ids: readonly ServiceId[]) => Promise<readonly ServiceId[]>) | null
}

/** A part of a frame about a list of services; they are read when it is made, never older than `revision`. */
export interface ServiceListFrame {
  readonly kind: Kind
  readonly revision: Revision
  /** Whether this is the final part. */
  readonly last: boolean
  readonly services: readonly ServiceId[]
  /** Services that left the list. */
  readonly removed: readonly ServiceId[]
}

/** A SNAPSHOT of the services in the view, then those that changed in it or came into it; those that left it are told as removed. */
export function serviceListFrames(
  database: Database,
  view: ServiceListView,
): ListFrames<ServiceListFrame, ServiceListChange> {
  const { statuses } = view
  const isIn = (status: ServiceStatus | null) => status !== null && (statuses?.has(status) ?? true)
  const frame = (kind: Kind, revision: Revision): ServiceListFrame => ({
    kind,
    revision,
    last: true,
    services: [],
    removed: [],
  })
  return {
    snapshot: (revision) => frame('SNAPSHOT', revision),
    delta: (_from, revision, changes) => {
      const net = new Map<ServiceId, { before: ServiceStatus | null; after: ServiceStatus | null }>()
      for (const { serviceId, statusBefore, statusAfter } of changes) {
        const first = net.get(serviceId)
        net.set(serviceId, { before: first === undefined ? statusBefore : first.before, after: statusAfter })
      }
      const services = [...net].filter(([, { after }]) => isIn(after)).map(([id]) => id)
      const removed = [...net].filter(([, { before, after }]) => isIn(before) && !isIn(after)).map(([id]) => id)
      return services.length + removed.length === 0 ? null : { kind: 'DELTA', revision, last: true, services, removed }
    },
    bookmark: (revision) => frame('BOOKMARK', revision),
    expand: async (whole) => {
      if (whole.kind === 'BOOKMARK') return [whole]
      const matching = await view.matching(whole.kind === 'SNAPSHOT' ? null : [...whole.services, ...whole.removed])
      const matches = new Set(matching)
      const changed = whole.kind === 'SNAPSHOT' ? matching : whole.services.filter((id) => matches.has(id))
      const shown = new Set(view.present === null ? changed : await view.present(changed))
      const services = changed.filter((id) => shown.has(id))
      const hidden = whole.kind === 'SNAPSHOT' ? [] : changed.filter((id) => !shown.has(id))
      const removed = [...whole.removed.filter((id) => matches.has(id)), ...hidden]
      if (whole.kind === 'DELTA' && services.length + removed.length === 0) return []
      return partsOf(services, listPart).map(({ part, last }) => ({
        ...whole,
        last,
        services: part,
        removed: last ? removed : [],
      }))
    },
    recall: async (cursor) => {
      const read = await readServiceListFacts(database, cursor)
      return read === null
        ? null
        : { head: read.head, changes: read.facts.map(({ revision, ...change }) => ({ revision, change })) }
    },
  }
}
