import { type GraphQLFieldConfig, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { withOwnErrors } from './partErrors.ts'
import { byNoun, typesByNoun } from './schemaOrder.ts'

// The API of users and the worker's protocol are built as one schema and then parted by their root fields, so that values such as Probe are
// declared once. Each part has the types that its own root fields lead to, and errors with the codes that they can answer.

export function schemaOfUsers(whole: GraphQLSchema): GraphQLSchema {
  return partOf(whole, (isOfWorkers) => !isOfWorkers, { schema: tour })
}

export function schemaOfWorkers(whole: GraphQLSchema): GraphQLSchema {
  return partOf(whole, (isOfWorkers) => isOfWorkers, {
    schema:
      'The protocol between a server and its workers. A worker registers, follows its assignments, and reports its replicas. Users have an API of their own, at /graphql.',
    query: "What a worker asks. It needs a token with the role worker, such as a server's worker-token.",
    mutation:
      'What a worker says. A failure that workers should expect is a member of the result union that implements Error.',
    subscription: 'What a worker follows: it gets a SNAPSHOT first and then every change, in order.',
  })
}

/** What a newcomer reads first. */
const tour = `XCE Services keeps services running on the hosts of a batch cluster.

A profile says how a program runs: its command, ports, probes and resources. A service runs a number of equal replicas of a
profile's revision. Each replica is a process on a host, under the host's worker. A replica that is lost is replaced. The
endpoint of a service is the list of the addresses of its ready replicas.

The way to a first service:
1. applyProfile makes a profile.
2. createService makes a service of it. Its status and its blockers say how far it is, and what it waits for.
3. endpointChanged sends the endpoint, and sends it again whenever it changes. Do not poll it.
4. updateService makes a new version the target, and a rollout moves the replicas to it. rolloutChanged follows the rollout.
   pauseRollout, resumeRollout and rollbackService direct it, and previewUpdate tells beforehand what an update would do.
5. scaleService changes the number of replicas, replicaLog reads a log, and deleteService ends it all.

Each mutation answers with a union: a payload, or an object that implements Error. Select "... on Error { message }" in each of
them. Lists are Relay connections. Subscriptions send a SNAPSHOT first and resume after a revision.`

type Operation = 'query' | 'mutation' | 'subscription'

/** `descriptions`: of the schema, and of the root types where they differ from those of the whole. */
function partOf(
  whole: GraphQLSchema,
  belongs: (isOfWorkers: boolean) => boolean,
  descriptions: { readonly schema: string } & Partial<Record<Operation, string>>,
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
    const named = ofRoot.map(([name, field]) => [name.slice(operation.length + 1), field] as const)
    return new GraphQLObjectType({ ...config, description, fields: Object.fromEntries(byNoun(named)) })
  }
  const part = new GraphQLSchema({
    description: descriptions.schema,
    query: root('query'),
    mutation: root('mutation'),
    subscription: root('subscription'),
    directives: whole.getDirectives(),
    extensions: whole.extensions,
  })
  return new GraphQLSchema({ ...part.toConfig(), types: typesByNoun(part) })
}
