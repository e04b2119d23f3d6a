import type { App } from '../controller/app.ts'
import type { PrismaClient } from '../generated/prisma/client.ts'
import type { ServiceId } from '../model/id.ts'
import { NotFoundError } from './refusalError.ts'
import type { ServiceName } from './serviceKey.ts'
import { shown, storable } from './text.ts'

export interface FoundService {
  readonly id: ServiceId
  /** Of its project; null: no limit. */
  readonly maxReplicas: number | null
}

/** The service that holds a name now; null when none does. */
export async function findService(prisma: PrismaClient, { project, name }: ServiceName): Promise<FoundService | null> {
  if (!storable(project) || !storable(name)) return null
  const found = await prisma.service.findFirst({
    where: { heldName: name, project: { name: project } },
    select: { id: true, project: { select: { maxReplicas: true } } },
  })
  return found === null ? null : { id: found.id as ServiceId, maxReplicas: found.project.maxReplicas }
}

/** The service that a mutation's input names. Throws NotFoundError. */
export async function requireService({ database }: App, key: ServiceName): Promise<FoundService> {
  const found = await findService(database.prisma, key)
  if (found !== null) return found
  const project = storable(key.project)
    ? await database.prisma.project.findUnique({ where: { name: key.project }, select: { id: true } })
    : null
  if (project === null) throw new NotFoundError(`There is no project ${shown(key.project)}.`, ['input', 'service', 'project'])
  throw new NotFoundError(`There is no service ${shown(key.name)} in project ${shown(key.project)}.`, ['input', 'service', 'name'])
}
