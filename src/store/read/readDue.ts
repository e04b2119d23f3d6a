import type { Instant, ServiceId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'

/**
 * Finds services with a timer that is due at `now`, the longest due first. Timers are read and never locked, because
 * the guarded commit deletes the row.
 */
export async function readDueServices({ prisma }: Database, now: Instant, most: number): Promise<ServiceId[]> {
  const rows = await prisma.timer.groupBy({
    by: ['serviceId'],
    where: { dueAt: { lte: new Date(now) } },
    _min: { dueAt: true },
    orderBy: { _min: { dueAt: 'asc' } },
    take: most,
  })
  return rows.map(({ serviceId }) => serviceId as ServiceId)
}

/** Returns when the next timer of any service is due; null when none is armed. */
export async function readEarliestDue({ prisma }: Database): Promise<Instant | null> {
  const earliest = await prisma.timer.aggregate({ _min: { dueAt: true } })
  return earliest._min.dueAt?.getTime() ?? null
}
