import { type GraphQLFieldConfig, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { withOwnErrors } from './partErrors.ts'

// The API of users and the worker's protocol are built as one schema and then parted by their root fields, so that values such as Probe are
// declared once. Each part has the types that its own root fields lead to, and errors with the codes that they can answer.

export function schemaOfUsers(whole: GraphQLSchema): GraphQLSchema {
  return partOf(whole, (isOfWorkers) => !isOfWorkers, {})
}

export function schemaOfWorkers(whole: GraphQLSchema): GraphQLSchema {
  return partOf(whole, (isOfWorkers) => isOfWorkers, {
    query: "What a worker asks. It needs a token with the role worker, such as a server's worker-token.",
    mutation:
      'What a worker says. A failure that workers should expect is a member of the result union that implements Error.',
    subscription: 'What a worker follows: it gets a SNAPSHOT first and then every change, in order.',
  })
}

type Operation = 'query' | 'mutation' | 'subscription'

/** `descriptions`: of the root types, where they differ from those of the whole. */
function partOf(
  whole: GraphQLSchema,
  belongs: (isOfWorkers: boolean) => boolean,
  descriptions: Partial<Record<Operation, string>>,
): GraphQLSchema {
  const roots = {
    query: whole.getQueryType(),
    mutation: whole.getMutationType(),
    subscription: whole.getSubscriptionType(),
  }
  // Errors are shared by all three, so the fields of all three are taken together.
  const own = Object.entries(roots).flatMap(([operation, type]) =>
    Object.entries(type?.toConfig().fields ?? {})
      .filter(([, { extensions }]) => belongs(extensions?.['ofWorkers'] === true))
      .map(([name, field]): [string, GraphQLFieldConfig<unknown, unknown>] => [`${operation}.${name}`, field]),
  )
  const fields = withOwnErrors(whole, own)
  const root = (operation: Operation) => {
    const config = roots[operation]?.toConfig()
    if (config === undefined) return null
    const description = descriptions[operation] ?? config.description
    const ofRoot = fields.filter(([name]) => name.startsWith(`${operation}.`))
    const named = ofRoot.map(([name, field]) => [name.slice(operation.length + 1), field])
    return new GraphQLObjectType({ ...config, description, fields: Object.fromEntries(named) })
  }
  return new GraphQLSchema({
    query: root('query'),
    mutation: root('mutation'),
    subscription: root('subscription'),
    directives: whole.getDirectives(),
    extensions: whole.extensions,
  })
}
