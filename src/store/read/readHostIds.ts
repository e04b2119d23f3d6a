import type { HostId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/** Those of `ids` (null: of all hosts) that are not removed, by id. */
export async function readHostIds({ prisma }: Database, ids: readonly HostId[] | null): Promise<readonly HostId[]> {
  const rows = await prisma.host.findMany({
    where: { removedAt: null, ...(ids === null ? {} : { id: { in: [...ids] } }) },
    select: { id: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ id }) => id as HostId)
}
