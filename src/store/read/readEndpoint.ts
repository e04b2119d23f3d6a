import { compareAddresses, type EndpointAddress } from '../../model/endpoint.ts'
import type { Revision, ServiceId } from '../../model/id.ts'
import { addressesOf } from '../../rules/endpoint/endpoint.ts'
import type { Database } from '../database/database.ts'
import { loadWithHead } from './snapshot.ts'

/** A service's table, exact at `revision`. */
export interface EndpointReading {
  readonly revision: Revision
  readonly addresses: readonly EndpointAddress[]
  /** The service was deleted: its table is empty for ever. */
  readonly isGone: boolean
}

/** Reads a service's table. One statement reads head and rows. Null when the service does not exist. */
export async function readEndpoint(database: Database, serviceId: ServiceId): Promise<EndpointReading | null> {
  const table = (await readEndpoints(database, [serviceId])).get(serviceId)
  return table === undefined || table.isGone ? null : table
}

/** Reads the tables of several services with one statement. Services that are not kept are left out. */
export async function readEndpoints(
  database: Database,
  serviceIds: readonly ServiceId[],
): Promise<ReadonlyMap<ServiceId, EndpointReading>> {
  const tables = new Map<ServiceId, EndpointReading>()
  for (const { head, snapshot } of await loadWithHead(database.prisma, serviceIds)) {
    const addresses = [...snapshot.replicas.values()].flatMap((replica) =>
      addressesOf(replica, replica.hostId === null ? null : (snapshot.hosts.get(replica.hostId) ?? null)),
    )
    const isGone = snapshot.columns.deletedAt !== null
    tables.set(snapshot.id, { revision: head, addresses: addresses.sort(compareAddresses), isGone })
  }
  return tables
}
