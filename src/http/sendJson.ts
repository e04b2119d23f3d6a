import type { ServerResponse } from 'node:http'
import type { GraphQLError } from 'graphql'
import { statusOf } from '../graphql/kit/errorCodes.ts'

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
}

/** Answers with one error as the whole of the answer, with the status of its code and the headers that it names. */
export function sendError(response: ServerResponse, { message, extensions }: GraphQLError): void {
  const { http, ...shown } = extensions
  const { headers = {} } = (http ?? {}) as { readonly headers?: Readonly<Record<string, string>> }
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  sendJson(response, statusOf(shown['code']), { errors: [{ message, extensions: shown }] })
}
