import { type Host as HostRow, Prisma } from '../../generated/prisma/client.ts'
import type { HostScheduling as Scheduling } from '../../generated/prisma/enums.ts'
import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import type { Filtered } from '../kit/connection/connection.ts'
import { enumOf } from '../kit/enumOf.ts'
import { allOf, among, filterDescription, filtered, refuseBadFilter } from '../kit/filter.ts'
import { Reachability, type ShownReachability, shownReachabilitySql } from '../worker/worker.ts'

/** A host that is to be drained is shown as DRAINED once nothing is left on it. */
type ShownScheduling = Scheduling | 'DRAINED'

export const HostScheduling = enumOf<ShownScheduling>(
  'HostScheduling',
  'Whether operators let a host take replicas, and the progress of a drain.',
  {
    OPEN: 'It takes replicas.',
    CORDONED: 'It takes no new replicas; those that it has stay.',
    DRAINING: 'It takes no new replicas, and those that it has are replaced elsewhere.',
    DRAINED: 'It takes no new replicas, and none of those that it had is left.',
  },
)

// Each replica holds at least 1 CPU milli, so a host without used CPU has no replica.
export const shownScheduling = ({
  scheduling,
  usedCpuMillis,
}: Pick<HostRow, 'scheduling' | 'usedCpuMillis'>): ShownScheduling =>
  scheduling === 'DRAINING' && usedCpuMillis === 0 ? 'DRAINED' : scheduling
const shownSchedulingSql = Prisma.sql`CASE WHEN t.scheduling = 'DRAINING' AND t."usedCpuMillis" = 0 THEN 'DRAINED' ELSE t.scheduling::text END`

export interface HostFilterValue {
  readonly names?: readonly string[] | null | undefined
  readonly schedulings?: readonly ShownScheduling[] | null | undefined
  readonly reachabilities?: readonly ShownReachability[] | null | undefined
}

export const HostFilter = builder.inputRef<HostFilterValue>('HostFilter').implement({
  description: filterDescription('hosts'),
  fields: (t) => ({
    names: t.stringList({ description: 'Hosts with one of these names.' }),
    schedulings: t.field({
      type: [HostScheduling],
      required: { list: false, items: true },
      description: 'Hosts with one of these schedulings: whether operators let them take replicas.',
    }),
    reachabilities: t.field({
      type: [Reachability],
      required: { list: false, items: true },
      description: 'Hosts with one of these reachabilities: whether the server can reach them.',
    }),
  }),
})

/** Returns the filter as an SQL condition on the rows `t` of Host. Removed hosts are left out. */
export function hostFilterSql(filter: HostFilterValue | null | undefined): Filtered {
  return filtered(filter, [presentHost(filter), ...lastingHost(filter)])
}

/** The conditions that can change in a host's life: that it is there, its scheduling and its reachability. */
export function presentHost(filter: HostFilterValue | null | undefined): Prisma.Sql {
  refuseBadFilter('filter', filter)
  const { names: _, schedulings, reachabilities, ...rest } = filter ?? {}
  noneLeft(rest)
  return allOf([
    Prisma.sql`t."removedAt" IS NULL`,
    ...among(shownSchedulingSql, schedulings),
    ...among(shownReachabilitySql, reachabilities),
  ])
}

/** The condition that holds for all of a host's life or never: its name. */
export function lastingHost(filter: HostFilterValue | null | undefined): Prisma.Sql[] {
  return among(Prisma.sql`t.name`, filter?.names)
}
