import { Prisma } from '../../generated/prisma/client.ts'
import { builder } from './builder.ts'

/** Names a service as people do. */
export interface ServiceName {
  readonly project: string
  readonly name: string
}

/** Names the service in the log of a mutation. */
export function aboutService({ service: { project, name } }: { readonly service: ServiceName }) {
  return { service: `${project}/${name}` }
}

/** The ids of the services that hold these names now, as an SQL query. */
export function servicesNamed(services: readonly ServiceName[]): Prisma.Sql {
  const projects = services.map(({ project }) => project)
  const names = services.map(({ name }) => name)
  return Prisma.sql`SELECT s.id FROM unnest(${projects}::text[], ${names}::text[]) AS wanted(project, name)
    JOIN "Project" p ON p.name = wanted.project JOIN "Service" s ON s."projectId" = p.id AND s."heldName" = wanted.name`
}

export const ServiceKey = builder.inputRef<ServiceName>('ServiceKey').implement({
  description: 'Names a service.',
  fields: (t) => ({
    project: t.string({ required: true, defaultValue: 'default', description: "The project's name." }),
    name: t.string({ required: true, description: "The service's name." }),
  }),
})

// Fields of the inputs of mutations.

export const serviceField = {
  type: ServiceKey,
  required: true,
  description: 'The service that holds this name. NotFoundError when there is none.',
} as const

export const expectedRevisionField = {
  type: 'Revision',
  description:
    'The specRevision of the service that you decided on. ConflictError when it is another one now; nothing is compared when it is left out.',
} as const
