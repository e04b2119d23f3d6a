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
