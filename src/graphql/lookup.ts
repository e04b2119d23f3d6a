import type { PrismaClient } from '../generated/prisma/client.ts'
import type { ProjectId, ServiceId } from '../model/id.ts'
import type { ServiceName } from './serviceKey.ts'
import { storable } from './text.ts'

/** The service that holds a name now; null when none does. */
export async function findService(
  prisma: PrismaClient,
  { project, name }: ServiceName,
): Promise<{ readonly id: ServiceId; readonly projectId: ProjectId } | null> {
  if (!storable(project) || !storable(name)) return null
  const found = await prisma.service.findFirst({
    where: { heldName: name, project: { name: project } },
    select: { id: true, projectId: true },
  })
  return found as { id: ServiceId; projectId: ProjectId } | null
}
