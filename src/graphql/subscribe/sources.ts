import { type ListFrames, listFollower } from '../../feed/listFollower.ts'
import type { ListTopics } from '../../feed/listTopics.ts'
import { type ServiceFrames, serviceFollower } from '../../feed/serviceFollower.ts'
import type { ServiceTopicChange } from '../../feed/serviceTopic.ts'
import { type FrameWishes, SharedSource } from '../../feed/sharedSource.ts'
import type { ServiceId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import type { GraphQLContext } from '../kit/context.ts'
import { findService, noService } from '../kit/lookup.ts'
import { refuseFaults } from '../kit/reference.ts'
import { projectOf, ServiceReference, type ServiceReferenceValue, serviceFaults } from '../kit/serviceReference.ts'

// What subscriptions follow, and the arguments that name it.

/** Every subscription takes these, as its last arguments. */
export const frameArgs = builder.args((t) => ({
  after: t.field({
    type: 'Revision',
    description:
      'The last revision that you have; the first frame then covers what changed after it. When it is left out, no longer kept or not reached yet, the first frame is a SNAPSHOT.',
  }),
  bookmarks: t.boolean({
    defaultValue: false,
    description:
      'Whether a BOOKMARK comes after 15 s without a frame, so that the revision that you have moves on while nothing happens.',
  }),
}))

/** The argument of every subscription to a service, or to something of it. */
export const serviceArgs = builder.args((t) => ({
  service: t.field({ type: ServiceReference, required: true, description: 'The service to follow.' }),
}))

/**
 * Follows the service that is named. `what` tells subscriptions to the same service apart. Throws NOT_FOUND, a top-level error, when there is no
 * such service.
 */
export async function followService<Frame>(
  { app: { feed, database } }: GraphQLContext,
  service: ServiceReferenceValue,
  wishes: FrameWishes,
  what: string,
  framesOf: (id: ServiceId) => ServiceFrames<Frame>,
): Promise<SharedSource<Frame, ServiceTopicChange>> {
  refuseFaults('service', serviceFaults(service))
  const key = JSON.stringify([service.id ?? null, projectOf(service), service.name ?? null])
  const id = await feed.lookUps.get(key, () => findService(database.prisma, service))
  if (id === null) throw noService(service, ['service'])
  return new SharedSource(feed, `${what} ${id}`, wishes, serviceFollower(feed, id, framesOf(id)))
}

/** Follows all services, hosts or events. */
export function followList<Name extends keyof ListTopics & string, Frame>(
  { app: { feed } }: GraphQLContext,
  name: Name,
  wishes: FrameWishes,
  frames: ListFrames<Frame, ListTopics[Name]>,
): SharedSource<Frame, ListTopics[Name]> {
  return new SharedSource(feed, name, wishes, listFollower(feed, name, frames))
}
