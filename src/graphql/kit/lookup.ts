import type { PrismaClient, Profile, ProfileRevision, Project } from '../../generated/prisma/client.ts'
import type { ServiceId } from '../../model/id.ts'
import { quoted } from '../../model/quoted.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { errorOf, type RefusalError } from './refusalError.ts'
import type { ServiceName } from './serviceKey.ts'
import { storable } from './storableText.ts'

/** Returns the service that holds a name now; null when none does. */
export async function findService(prisma: PrismaClient, { project, name }: ServiceName): Promise<ServiceId | null> {
  if (!storable(project) || !storable(name)) return null
  const found = await prisma.service.findFirst({
    where: { heldName: name, project: { name: project } },
    select: { id: true },
  })
  return found === null ? null : (found.id as ServiceId)
}

/** Returns the service that a mutation's input names. Throws NotFoundError. */
export async function requireService({ database: { prisma } }: ServerContext, key: ServiceName): Promise<ServiceId> {
  const found = await findService(prisma, key)
  if (found !== null) return found
  if ((await findProject(prisma, key.project)) === null) throw noProject(key.project, ['input', 'service', 'project'])
  throw noService(key, ['input', 'service', 'name'])
}

export function noService({ project, name }: ServiceName, path: readonly string[]): RefusalError {
  const message = `There is no service ${quoted(name)} in project ${quoted(project)}: make it with createService.`
  return errorOf({ code: 'NOT_FOUND', message, path })
}

export async function findProject(prisma: PrismaClient, name: string): Promise<Project | null> {
  return storable(name) ? await prisma.project.findUnique({ where: { name } }) : null
}

export function noProject(name: string, path: readonly string[]): RefusalError {
  const message = `There is no project ${quoted(name)}: make it with applyProject.`
  return errorOf({ code: 'NOT_FOUND', message, path })
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
