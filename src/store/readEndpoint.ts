import type { EndpointAddress } from '../model/endpoint.ts'
import type { Revision, ServiceId } from '../model/id.ts'
import { addressesOf } from '../rules/endpoint.ts'
import type { Database } from './database.ts'
import { loadWithHead } from './snapshot.ts'

/** A service's table, exact at `revision`: head and rows are read in one statement. Null: there is no such service. */
export async function readEndpoint(
  database: Database,
  serviceId: ServiceId,
): Promise<{ revision: Revision; addresses: EndpointAddress[] } | null> {
  const loaded = await loadWithHead(database.prisma, serviceId)
  if (!loaded) return null
  const { head, snapshot } = loaded
  const addresses = [...snapshot.replicas.values()].flatMap((replica) =>
    addressesOf(replica, replica.hostId === null ? null : (snapshot.hosts.get(replica.hostId) ?? null)),
  )
  return { revision: head, addresses }
}
