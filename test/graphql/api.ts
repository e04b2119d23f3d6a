import { type GraphQLSchema, graphql, isUnionType } from 'graphql'
import { afterAll, beforeAll } from 'vitest'
import { createContext, type Viewer } from '../../src/graphql/kit/context.ts'
import { schema, workerSchema } from '../../src/graphql/schema.ts'
import type { QuietServer } from '../../src/server/compose.ts'
import type { ServerContext } from '../../src/systems/serverContext.ts'
import { quietServer } from '../support/drivers/testServer.ts'
import { freshEmbedded, type TestDatabase } from '../support/fixtures/databases.ts'

export const admin: Viewer = { subject: 'alice', roles: ['admin'] }

// biome-ignore lint/suspicious/noExplicitAny: an answer has the shape that its document asks for
export type Data = any

export interface Answer {
  readonly data: Data
  readonly errors: readonly { readonly message: string; readonly code: unknown }[]
}

export interface Api extends Caller {
  readonly app: ServerContext
  /** The same for the worker's protocol. */
  readonly worker: Caller
}

export interface Caller {
  /** Runs a document as a client's, without the transport. */
  ask(source: string, variables?: Record<string, unknown>, viewer?: Viewer | null): Promise<Answer>
  /** The data of a document that has to succeed. */
  data(source: string, variables?: Record<string, unknown>, viewer?: Viewer | null): Promise<Data>
}

/** The API of a server on a fresh database (embedded by default) without timers, placement and transport. */
export function openApi(fresh: () => Promise<TestDatabase> = freshEmbedded): () => Api {
  let server: QuietServer
  let test: TestDatabase
  beforeAll(async () => {
    test = await fresh()
    server = await quietServer(test)
  })
  afterAll(async () => {
    await server?.stop()
    await test?.drop()
  })
  return () => apiOf(server.app)
}

function apiOf(app: ServerContext): Api {
  return { app, ...callerOf(app, schema), worker: callerOf(app, workerSchema) }
}

function callerOf(app: ServerContext, of: GraphQLSchema): Caller {
  const ask: Caller['ask'] = async (source, variables = {}, viewer = admin) => {
    const { data, errors = [] } = await graphql({
      schema: of,
      source,
      variableValues: variables,
      contextValue: createContext(app, viewer),
    })
    return {
      data: JSON.parse(JSON.stringify(data ?? null)),
      errors: errors.map(({ message, extensions }) => ({ message, code: extensions['code'] })),
    }
  }
  return {
    ask,
    data: async (source, variables, viewer) => {
      const { data, errors } = await ask(source, variables, viewer)
      if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
      return data
    },
  }
}

const ownFields: Readonly<Record<string, string>> = {
  InvalidInputError: 'issues { path message }',
  NotFoundError: 'path',
  NameTakenError: 'path',
  NoChangeError: 'path',
  InvalidStateError: 'path',
  ConflictError: 'path specRevision',
  QuotaExceededError: 'limit requested',
}

/** A document with the variable `input` that asks for all of a mutation's answer: `payload` of its payload, and every field of every error. */
export function documentOf(mutation: string, payload = ''): string {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
  return `mutation ${name}($input: ${name}Input!) { ${mutation}(input: $input) ${selectionOf(name, payload)} }`
}

export function selectionOf(name: string, payload = ''): string {
  const union = schema.getType(`${name}Result`) ?? workerSchema.getType(`${name}Result`)
  if (!isUnionType(union)) throw new Error(`There is no ${name}Result.`)
  const own = union
    .getTypes()
    .map(({ name: member }) => (ownFields[member] ? `... on ${member} { ${ownFields[member]} }` : ''))
  return `{ __typename ... on Error { code message } ${own.join(' ')} ${payload === '' ? '' : `... on ${name}Payload { ${payload} }`} }`
}

/** Makes a profile that many tests are happy with. */
export async function withProfile({ data }: Api, input: Record<string, unknown> = {}): Promise<void> {
  const { applyProfile } = await data(documentOf('applyProfile'), {
    input: { name: 'web', command: ['serve'], ports: [{ name: 'http' }], ...input },
  })
  if (applyProfile.__typename !== 'ApplyProfilePayload') throw new Error(applyProfile.message)
}

/** Makes a service of it, and tells its id. */
export async function withService({ data }: Api, name: string, input: Record<string, unknown> = {}): Promise<string> {
  const { createService } = await data(documentOf('createService', 'service { id }'), {
    input: { name, profile: 'web', replicas: 1, ...input },
  })
  if (createService.__typename !== 'CreateServicePayload') throw new Error(createService.message)
  return createService.service.id
}
