import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { GraphQLError, type GraphQLSchema } from 'graphql'
import type { Viewer } from '../graphql/kit/context.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import { answerForms, asksForSubscription } from './answerForms.ts'
import type { Documents } from './documents.ts'
import type { EventStreams } from './eventStreams.ts'
import { readBody, sendTooLarge } from './requestBody.ts'
import { sendError } from './sendJson.ts'
import { createYogaServer, type Yoga } from './yoga.ts'

export interface RouteOptions {
  readonly path: string
  readonly schema: GraphQLSchema
  readonly documents: Documents
  readonly streams: EventStreams
}

/**
 * GraphQL over HTTP. Yoga answers queries and mutations as JSON. Event streams answer subscriptions, and also the queries and mutations of callers
 * who take nothing but server-sent events.
 */
export class GraphqlRoute {
  readonly #yoga: Yoga
  readonly #streams: EventStreams
  readonly #documents: Documents

  constructor(app: ServerContext, { path, schema, documents, streams }: RouteOptions) {
    this.#yoga = createYogaServer(app, schema, path)
    this.#documents = documents
    this.#streams = streams
  }

  async handle(request: IncomingMessage, response: ServerResponse, viewer: Viewer): Promise<void> {
    const forms = answerForms(request)
    if (forms instanceof GraphQLError) return sendError(response, forms)
    // Yoga knows no weights, and takes the first type that it writes.
    if (request.headers.accept !== undefined) request.headers.accept = forms.json.join(', ')
    if (!forms.events) return this.#yoga(request, response, { viewer })
    // The form of the answer depends on the operation, so the body is read here, and whoever answers gets it as it was read.
    const body = request.method === 'POST' ? await readBody(request) : ''
    if (body === null) return sendTooLarge(response)
    if (forms.json.length === 0 || asksForSubscription(request, body, this.#documents))
      return this.#streams.answerOne(request, response, viewer, body)
    return this.#yoga(Object.assign(request, { body: Readable.from([Buffer.from(body)]) }), response, { viewer })
  }
}
