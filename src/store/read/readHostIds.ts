import type { HostId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/** Returns those of `ids` (of all hosts when null) that are not removed, in order. */
export async function readHostIds({ prisma }: Database, ids: readonly HostId[] | null): Promise<readonly HostId[]> {
  const rows = await prisma.host.findMany({
    where: { removedAt: null, ...(ids === null ? {} : { id: { in: [...ids] } }) },
    select: { id: true },
    orderBy: { id: 'asc' },
  })
  return rows.map(({ id }) => id as HostId)
}
