import type { IncomingMessage, ServerResponse } from 'node:http'
import { type GraphQLSchema, isAbstractType, printSchema } from 'graphql'
import { CachedBody } from './cachedBody.ts'

/** The text of the users' API, for clients that generate code. It needs no token, because it tells nothing of this server. */
export const schemaPath = '/schema.graphql'

/** Which types each interface and union has, in the form of Apollo Client's option `possibleTypes`. */
export const possibleTypesPath = '/possibleTypes.json'

/** Sends the files that clients make code and caches from. Each is made at the first request for it. */
export class SchemaFiles {
  readonly #schema: GraphQLSchema
  #text: Promise<CachedBody> | null = null
  #possibleTypes: Promise<CachedBody> | null = null

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  async sendSchema(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#text ??= CachedBody.of('text/plain', `${printSchema(this.#schema)}\n`)
    ;(await this.#text).send(request, response)
  }

  async sendPossibleTypes(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#possibleTypes ??= CachedBody.of('application/json', `${JSON.stringify(possibleTypesOf(this.#schema))}\n`)
    ;(await this.#possibleTypes).send(request, response)
  }
}

/** The names of the possible types of each interface and union of a schema. */
export function possibleTypesOf(schema: GraphQLSchema): Readonly<Record<string, readonly string[]>> {
  const abstract = Object.values(schema.getTypeMap()).filter(isAbstractType)
  return Object.fromEntries(abstract.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]))
}
