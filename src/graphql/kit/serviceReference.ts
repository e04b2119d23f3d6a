import { Prisma } from '../../generated/prisma/client.ts'
import { builder } from './builder.ts'
import type { Fault } from './check.ts'
import { idOf } from './globalId.ts'
import { idDescription, type Reference, referenceFaults, refuseFaults } from './reference.ts'

/** Names a service by its id, or by its name and its project. */
export interface ServiceReferenceValue extends Reference {
  /** The project `default` when it is left out. */
  readonly project?: string | null | undefined
}

export const projectOf = ({ project }: ServiceReferenceValue): string => project ?? 'default'

/** Names the service in the log of a mutation. */
export function aboutService({ service }: { readonly service: ServiceReferenceValue }) {
  return { service: typeof service.name === 'string' ? `${projectOf(service)}/${service.name}` : (service.id ?? '') }
}

export const ServiceReference = builder.inputRef<ServiceReferenceValue>('ServiceReference').implement({
  description: 'Names a service by its name and project, or by its id.',
  fields: (t) => ({
    id: t.id({ description: idDescription('Service') }),
    name: t.string({ description: "The service's name. Give it or the id." }),
    project: t.string({
      description: "The project's name; default when it is left out. Give it only beside the name.",
    }),
  }),
  check: (reference) => serviceFaults(reference),
})

/** Says what is wrong with a reference to a service. */
export function serviceFaults(reference: ServiceReferenceValue): readonly Fault[] {
  const faults = referenceFaults('Service', reference)
  if (faults.length > 0 || typeof reference.id !== 'string' || typeof reference.project !== 'string') return faults
  return [{ path: ['project'], message: 'A project is given beside an id: give it only beside a name.' }]
}

/** The ids of the services that are named, as an SQL query. A name stands for the service that holds it now. */
export function servicesNamed(argument: string, references: readonly ServiceReferenceValue[]): Prisma.Sql {
  for (const [at, reference] of references.entries()) refuseFaults(`${argument}.${at}`, serviceFaults(reference))
  const ids = references.flatMap(({ id }) => (typeof id === 'string' ? [idOf('Service', id)] : []))
  const named = references.filter(({ name }) => typeof name === 'string')
  const projects = named.map(projectOf)
  const names = named.map(({ name }) => name)
  return Prisma.sql`SELECT unnest(${ids}::text[]) UNION ALL
    SELECT s.id FROM unnest(${projects}::text[], ${names}::text[]) AS wanted(project, name)
    JOIN "Project" p ON p.name = wanted.project JOIN "Service" s ON s."projectId" = p.id AND s."heldName" = wanted.name`
}

// Fields of the inputs of mutations.

export const serviceField = {
  type: ServiceReference,
  required: true,
  description: 'The service. NotFoundError when there is none that has this id or holds this name.',
} as const

export const expectedRevisionField = {
  type: 'Revision',
  description:
    'The specRevision of the service that you decided on. ConflictError when it is another one now; nothing is compared when it is left out.',
} as const
