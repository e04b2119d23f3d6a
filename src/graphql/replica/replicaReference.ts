import type { ReplicaState } from '../../generated/prisma/enums.ts'
import type { ReplicaId, ServiceId, WorkerId } from '../../model/id.ts'
import { quoted } from '../../model/quoted.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { builder } from '../kit/builder.ts'
import type { Fault } from '../kit/check.ts'
import { idOf } from '../kit/globalId.ts'
import { findService, requireService } from '../kit/lookup.ts'
import { referenceFaults, refuseFaults } from '../kit/reference.ts'
import { errorOf } from '../kit/refusalError.ts'
import { aboutService, ServiceReference, type ServiceReferenceValue, serviceFaults } from '../kit/serviceReference.ts'

/** Names a replica by its id, or by its service and its index. */
export interface ReplicaReferenceValue {
  readonly id?: string | null | undefined
  readonly service?: ServiceReferenceValue | null | undefined
  readonly index?: number | null | undefined
}

export const ReplicaReference = builder.inputRef<ReplicaReferenceValue>('ReplicaReference').implement({
  description: 'Names a replica by its id, or by its service and its index.',
  fields: (t) => ({
    id: t.id({ description: 'The id of the replica. Give it, or service and index.' }),
    service: t.field({
      type: ServiceReference,
      description: 'The service of the replica. Give it with index, or give the id.',
    }),
    index: t.int({
      description:
        'The index of the replica in its service. It means the replica of this index that is not stopping. Give it with service, or give the id.',
    }),
  }),
  check: (reference) => replicaFaults(reference),
})

/** Throws BAD_USER_INPUT for the first fault of the argument `replica` of a query or a subscription. */
export function refuseBadReplica(reference: ReplicaReferenceValue): void {
  refuseFaults('replica', replicaFaults(reference))
  if (reference.service) refuseFaults('replica.service', serviceFaults(reference.service))
}

/** Says what is wrong with a reference to a replica. Its service is judged as an input of its own. */
function replicaFaults({ id, service, index }: ReplicaReferenceValue): Fault[] {
  const byIndex = [service, index].filter((part) => part !== null && part !== undefined).length
  if (typeof id === 'string' && byIndex > 0)
    return [{ message: `The id ${quoted(id)} is given beside service or index: give the id, or service and index.` }]
  if (typeof id === 'string') return referenceFaults('Replica', { id }, 'its service and index')
  if (byIndex === 2) return []
  return [{ message: 'The replica is not named: give its id, or both service and index.' }]
}

export function shownReplica({ id, service, index }: ReplicaReferenceValue): string {
  return service ? `${aboutService({ service }).service} ${index}` : (id ?? '')
}

export interface FoundReplica {
  readonly replicaId: ReplicaId
  readonly serviceId: ServiceId
  /** Null before its placement. */
  readonly workerId: WorkerId | null
}

/** Returns the replica that is named; null when there is none. */
export async function findReplica(
  app: ServerContext,
  { id, service, index }: ReplicaReferenceValue,
): Promise<FoundReplica | null> {
  const { prisma } = app.database
  const select = { id: true, serviceId: true, workerId: true } as const
  if (service && typeof index === 'number') {
    const serviceId = await findService(prisma, service)
    if (serviceId === null) return null
    // While a replica is replaced, two have its index: the newer one is meant.
    const where = { serviceId, index, state: { in: ['PENDING', 'STARTING', 'RUNNING'] as ReplicaState[] } }
    const rows = await prisma.replica.findMany({ where, select })
    const row = rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)).at(-1)
    return row === undefined ? null : foundOf(row)
  }
  const bare = idOf('Replica', id ?? '')
  const row = bare === null ? null : await prisma.replica.findUnique({ where: { id: bare }, select })
  return row === null ? null : foundOf(row)
}

/** Returns the replica that is named at the path. Throws NotFoundError. */
export async function requireReplica(
  app: ServerContext,
  reference: ReplicaReferenceValue,
  path: readonly string[],
): Promise<FoundReplica> {
  const found = await findReplica(app, reference)
  if (found !== null) return found
  const { id, service, index } = reference
  if (service && typeof index === 'number') {
    await requireService(app, service, [...path, 'service'])
    const message = `Service ${aboutService({ service }).service} has no replica ${index} that is alive and not stopping: read its replicas for their indexes.`
    throw errorOf({ code: 'NOT_FOUND', message, path: [...path, 'index'] })
  }
  const message = `There is no replica with the id ${quoted(id ?? '')}: it is no longer kept, or never existed.`
  throw errorOf({ code: 'NOT_FOUND', message, path: [...path, 'id'] })
}

function foundOf({ id, ...row }: { id: string; serviceId: string; workerId: string | null }): FoundReplica {
  return { replicaId: id, ...row } as FoundReplica
}
