import { GraphQLObjectType, GraphQLSchema } from 'graphql'

// The API of users and the worker's protocol are built as one schema and then parted by their root fields, so that values such as Probe are
// declared once. Each part has the types that its own root fields lead to.

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
  const root = (operation: Operation, type: GraphQLObjectType | null | undefined) => {
    if (type == null) return null
    const { fields, ...config } = type.toConfig()
    const description = descriptions[operation] ?? config.description
    const own = Object.entries(fields).filter(([, { extensions }]) => belongs(extensions?.['ofWorkers'] === true))
    return new GraphQLObjectType({ ...config, description, fields: Object.fromEntries(own) })
  }
  return new GraphQLSchema({
    query: root('query', whole.getQueryType()),
    mutation: root('mutation', whole.getMutationType()),
    subscription: root('subscription', whole.getSubscriptionType()),
    directives: whole.getDirectives(),
    extensions: whole.extensions,
  })
}
