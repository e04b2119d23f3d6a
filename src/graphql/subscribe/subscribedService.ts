import type { ServiceId } from '../../model/id.ts'
import type { GraphQLContext } from '../kit/context.ts'
import { findService, noService } from '../kit/lookup.ts'
import type { ServiceName } from '../kit/serviceKey.ts'

/** The service that a subscription names. Throws NOT_FOUND, a top-level error, when there is none. */
export async function subscribedService({ app }: GraphQLContext, service: ServiceName): Promise<ServiceId> {
  const key = JSON.stringify([service.project, service.name])
  const id = await app.feed.lookUps.get(key, () => findService(app.database.prisma, service))
  if (id !== null) return id
  throw noService(service, ['name'])
}
