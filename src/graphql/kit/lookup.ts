import type { PrismaClient, Profile, ProfileRevision, Project } from '../../generated/prisma/client.ts'
import type { QueueId, ServiceId } from '../../model/id.ts'
import { quoted } from '../../model/quoted.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { idOf } from './globalId.ts'
import { errorOf, type RefusalError } from './refusalError.ts'
import { projectOf, type ServiceReferenceValue } from './serviceReference.ts'
import { storable } from './storableText.ts'

/** Returns the service that has the id or holds the name now, also while it is being deleted; null when there is none. */
export async function findService(prisma: PrismaClient, reference: ServiceReferenceValue): Promise<ServiceId | null> {
  const where = whereOf(reference)
  if (where === null) return null
  const found = await prisma.service.findFirst({ where, select: { id: true } })
  return found === null ? null : (found.id as ServiceId)
}

/** Returns the condition on the service's row; null where no row can have such an id or name. */
export function whereOf(reference: ServiceReferenceValue) {
  const { id, name } = reference
  if (typeof id === 'string') {
    const bare = idOf('Service', id)
    return bare === null ? null : { id: bare, heldName: { not: null } }
  }
  const project = projectOf(reference)
  return typeof name === 'string' && storable(project) && storable(name)
    ? { heldName: name, project: { name: project } }
    : null
}

/** Returns the service that a mutation's input names. Throws NotFoundError. */
export async function requireService(
  { database: { prisma } }: ServerContext,
  reference: ServiceReferenceValue,
  path: readonly string[] = ['input', 'service'],
): Promise<ServiceId> {
  const found = await findService(prisma, reference)
  if (found !== null) return found
  if (typeof reference.id !== 'string' && (await findProject(prisma, projectOf(reference))) === null)
    throw noProject(projectOf(reference), [...path, 'project'])
  throw noService(reference, path)
}

export function noService(reference: ServiceReferenceValue, path: readonly string[]): RefusalError {
  const { id, name } = reference
  if (typeof id === 'string') {
    const message = `There is no service with the id ${quoted(id)}: it has been deleted, or never existed.`
    return errorOf({ code: 'NOT_FOUND', message, path: [...path, 'id'] })
  }
  const message = `There is no service ${quoted(name ?? '')} in project ${quoted(projectOf(reference))}: make it with createService.`
  return errorOf({ code: 'NOT_FOUND', message, path: [...path, 'name'] })
}

export async function findProject(prisma: PrismaClient, name: string): Promise<Project | null> {
  return storable(name) ? await prisma.project.findFirst({ where: { name, removedAt: null } }) : null
}

export function noProject(name: string, path: readonly string[]): RefusalError {
  const message = `There is no project ${quoted(name)}: make it with applyProject.`
  return errorOf({ code: 'NOT_FOUND', message, path })
}

/** Returns the queue that a mutation's input names. Throws NotFoundError. */
export async function requireQueue(prisma: PrismaClient, name: string): Promise<{ id: QueueId; name: string }> {
  const found = storable(name) ? await prisma.queue.findFirst({ where: { name, removedAt: null } }) : null
  if (found !== null) return { id: found.id as QueueId, name }
  const message = `There is no queue ${quoted(name)}: make it with applyQueue.`
  throw errorOf({ code: 'NOT_FOUND', message, path: ['input', 'queue'] })
}

/** Returns the revision of a profile that a mutation's input names. Throws NotFoundError. */
export async function requireRevision(
  prisma: PrismaClient,
  profile: Profile,
  revision: number,
): Promise<ProfileRevision> {
  const found = await prisma.profileRevision.findUnique({
    where: { profileId_revision: { profileId: profile.id, revision } },
  })
  if (found !== null) return found
  const message = `The profile ${quoted(profile.name)} has no revision ${revision}: it has 1 to ${profile.currentRevision}, give one of them.`
  throw errorOf({ code: 'NOT_FOUND', message, path: ['input', 'profileRevision'] })
}
