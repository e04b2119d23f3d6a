import { builder } from './builder.ts'

/** Names a service as people do. */
export interface ServiceName {
  readonly project: string
  readonly name: string
}

/** For the log of a mutation. */
export function aboutService({ service: { project, name } }: { readonly service: ServiceName }) {
  return { service: `${project}/${name}` }
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
  description: 'The service that holds this name; none: NotFoundError.',
} as const

export const expectedRevisionField = {
  type: 'Revision',
  description:
    "The service's specRevision that you decided on: another one now is a ConflictError. Left out: not compared.",
} as const
