import SchemaBuilder from '@pothos/core'
import DataloaderPlugin from '@pothos/plugin-dataloader'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin, { type AuthFailure } from '@pothos/plugin-scope-auth'
import type PrismaTypes from '../../generated/pothos.ts'
import { getDatamodel } from '../../generated/pothos.ts'
import { bounds } from '../../model/bounds.ts'
import type { Instant, Revision } from '../../model/id.ts'
import type { Limit } from '../../model/settings.ts'
import { type GraphQLContext, hasRole } from './context.ts'
import { decodeGlobalId, encodeGlobalId } from './globalId.ts'
import { errorOf } from './refusalError.ts'
import { badUserInput, unauthenticated } from './requestErrors.ts'

/** The kinds of types that every file of this folder shares. */
export interface ApiTypes {
  Context: GraphQLContext
  PrismaTypes: PrismaTypes
  /** `admin` may do everything, `worker` the worker's protocol; `authenticated` is anyone with a valid token. */
  AuthScopes: { authenticated: boolean; admin: boolean; worker: boolean }
  DefaultFieldNullability: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
  /** Every connection can count its rows on all pages. */
  Connection: { readonly count: () => Promise<number> }
  Scalars: {
    ID: { Input: string; Output: string | number | bigint }
    DateTime: { Input: Date; Output: Date | Instant }
    Revision: { Input: Revision; Output: Revision }
    IntOrPercent: { Input: Limit; Output: Limit }
  }
}

export const builder = new SchemaBuilder<ApiTypes>({
  // The errors plugin is first, so that a refusal of scope-auth can become a member of a mutation's result union.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, RelayPlugin, PrismaPlugin, DataloaderPlugin],
  defaultFieldNullability: false,
  errors: { directResult: true },
  prisma: {
    client: (context) => context.app.database.prisma,
    dmmf: getDatamodel(),
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: ({ viewer }) => ({
      authenticated: viewer !== null,
      admin: hasRole(viewer, 'admin'),
      worker: hasRole(viewer, 'worker') || hasRole(viewer, 'admin'),
    }),
    unauthorizedError: (_parent, { app, viewer }, info, { failure }) => {
      if (viewer === null) return unauthenticated()
      const { subject, roles } = viewer
      const needed = isOfWorkers(failure) ? "role worker, such as a server's worker-token" : 'role admin'
      const ownPath =
        !isOfWorkers(failure) && hasRole(viewer, 'worker') ? ' Workers speak their own protocol, at /worker.' : ''
      const message = `${subject} may not use ${info.parentType.name}.${info.fieldName}: it has the role ${roles.join(', ') || '(none)'}. Use a token with the ${needed}.${ownPath}`
      if (info.fieldName === 'registerWorker') app.workerRefusals.tell({ subject }, message)
      return errorOf({ code: 'FORBIDDEN', message })
    },
  },
  relay: {
    cursorType: 'String',
    brandLoadedObjects: true,
    encodeGlobalID: encodeGlobalId,
    decodeGlobalID: (text) => {
      const id = decodeGlobalId(text)
      if (id === null)
        throw badUserInput(
          `${JSON.stringify(text)} is no id of this API: ids look like Replica_01890a5d-ac96-774b-bcce-b302099a8057.`,
        )
      return { ...id }
    },
    nodeTypeOptions: { description: 'Anything that has an id and can be read again by it.' },
    idFieldOptions: { description: 'Names the object in the whole API: its type, "_" and a UUID.' },
    nodeQueryOptions: {
      description:
        'The object with this id; null when it does not exist. The error BAD_USER_INPUT when the text cannot be an id.',
      args: { id: { description: 'A global id, for example of a Service.' } },
    },
    nodesQueryOptions: {
      description: `The objects with these ids in the same order, with null for each that does not exist. The error BAD_USER_INPUT for more than ${bounds.nodes} ids.`,
      args: { ids: { description: `At most ${bounds.nodes} global ids.` } },
      resolve: (_root, { ids }, _context, _info, resolveNodes) => {
        if (ids.length > bounds.nodes)
          throw badUserInput(`ids has ${ids.length} ids: at most ${bounds.nodes} are allowed.`)
        return resolveNodes(ids)
      },
    },
    pageInfoTypeOptions: { description: 'Whether a connection has further pages, and their cursors.' },
    hasNextPageFieldOptions: { description: 'Whether something follows this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether something precedes this page.' },
    startCursorFieldOptions: { description: 'The cursor of the first edge: pass it as before. Null on an empty page.' },
    endCursorFieldOptions: { description: 'The cursor of the last edge: pass it as after. Null on an empty page.' },
    firstArgOptions: {
      description: `How many items to return from the start, 0 to ${bounds.pageSize.max}; ${bounds.pageSize.default} when neither first nor last is given. It cannot be given together with last.`,
    },
    lastArgOptions: {
      description: `How many items to return from the end, 0 to ${bounds.pageSize.max}. It cannot be given together with first.`,
    },
    afterArgOptions: { description: 'Return only items after this cursor of the same connection.' },
    beforeArgOptions: { description: 'Return only items before this cursor of the same connection.' },
    edgesFieldOptions: { description: 'The page, with cursors.', nullable: { list: false, items: false } },
    nodesOnConnection: { description: 'The page, without cursors.' },
    pageInfoFieldOptions: { description: 'Whether there are further pages, and their cursors.' },
    cursorFieldOptions: { description: 'The position of this edge in its connection.' },
    nodeFieldOptions: { description: 'The object at this position.', nullable: false },
  },
})

builder.globalConnectionField('totalCount', (t) =>
  t.int({
    description:
      'The number of items on all pages that match the filter. It is counted only when it is asked for, which takes the longer the more there are.',
    resolve: ({ count }) => count(),
  }),
)

/** The role worker would have been enough for this field. */
function isOfWorkers(failure: AuthFailure): boolean {
  if ('failures' in failure) return failure.failures.some(isOfWorkers)
  return 'scope' in failure && failure.scope === 'worker'
}

builder.queryType({
  description: 'Queries read. Every field needs a token with the role admin, except `viewer` (any token).',
  authScopes: { admin: true },
})
builder.mutationType({
  description:
    'Mutations write. A failure that clients should expect is a member of the result union that implements Error.',
  authScopes: { admin: true },
})
builder.subscriptionType({
  description: 'Subscriptions follow changes: they send a SNAPSHOT first and then every change, in order.',
  authScopes: { admin: true },
})
