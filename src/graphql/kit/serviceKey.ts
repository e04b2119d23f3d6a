import { builder } from './builder.ts'

/** Names a service as people do. */
export interface ServiceName {
  readonly project: string
  readonly name: string
}

export const serviceDescription = 'The service that holds this name; none: NotFoundError.'

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
