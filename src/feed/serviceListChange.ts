import type { ServiceStatus } from '../generated/prisma/enums.ts'
import type { ServiceFactData } from '../model/fact.ts'
import type { ServiceId } from '../model/id.ts'

/** A change of a service as followers of lists need it: it is enough to tell whether the service enters or leaves a list. */
export interface ServiceListChange {
  readonly serviceId: ServiceId
  /** Null: the service was created by the change. */
  readonly statusBefore: ServiceStatus | null
  /** Null: it is gone. */
  readonly statusAfter: ServiceStatus | null
}

export function serviceListChangeOf(serviceId: ServiceId, data: ServiceFactData): ServiceListChange {
  return {
    serviceId,
    statusBefore: isCreation(data) ? null : (data.before.status ?? data.status),
    statusAfter: data.after.deletedAt == null ? data.status : null,
  }
}

/** Only the fact of a creation has columns after it and none before. */
export function isCreation({ before, after }: Pick<ServiceFactData, 'before' | 'after'>): boolean {
  return Object.keys(before).length === 0 && Object.keys(after).length > 0
}
