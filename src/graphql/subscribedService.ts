import type { ServiceId } from '../model/id.ts'
import type { GraphQLContext } from './context.ts'
import { NotFoundError } from './refusalError.ts'
import type { ServiceName } from './serviceKey.ts'
import { storable } from './text.ts'

/** The service that a subscription names. Throws NOT_FOUND, a top-level error, when there is none. */
export async function subscribedService({ app }: GraphQLContext, { project, name }: ServiceName): Promise<ServiceId> {
  const found =
    storable(project) && storable(name)
      ? await app.database.prisma.service.findFirst({ where: { heldName: name, project: { name: project } }, select: { id: true } })
      : null
  if (found === null) {
    throw new NotFoundError(`There is no service ${JSON.stringify(name)} in project ${JSON.stringify(project)}: create it first.`, ['name'])
  }
  return found.id as ServiceId
}
