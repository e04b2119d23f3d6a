import type { ServiceFactData } from '../../model/fact.ts'
import type { Revision, ServiceId } from '../../model/id.ts'
import type { Database } from '../database/database.ts'
import { type FactsSince, readFactPages } from './factPages.ts'

/**
 * Reads the changes of a service after a revision; null when not all of them are kept, or when the revision is not
 * reached yet.
 */
export function readServiceFacts(
  database: Database,
  serviceId: ServiceId,
  after: Revision,
): Promise<FactsSince<{ readonly revision: Revision; readonly data: ServiceFactData }> | null> {
  return readFactPages(
    database,
    after,
    'f."data"::text AS data',
    `f."serviceId" = $3 AND f."kind" = 'change'`,
    [serviceId],
    (row, revision) => ({ revision, data: JSON.parse(row['data'] as string) as ServiceFactData }),
  )
}
