import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type ParseOptions,
  parse,
  type Source,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { operationMissing, withCode } from '../graphql/kit/operationErrors.ts'
import { requestError } from '../graphql/kit/requestErrors.ts'

export type CheckedDocument = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] }

const longestKept = 65_536

/** Parses and validates documents, and remembers the last ones, because most subscribers send the same. */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #checked = new LRUCache<string, CheckedDocument>({ max: 500 })

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  check(source: string): CheckedDocument {
    const known = this.#checked.get(source)
    if (known !== undefined) return known
    const checked = this.#check(source)
    if (source.length <= longestKept) this.#checked.set(source, checked)
    return checked
  }

  /** Checks a document, and that it has the operation that the caller names. */
  checkOperation(source: string, operationName: unknown): CheckedDocument {
    const checked = this.check(source)
    if ('errors' in checked) return checked
    const missing = operationMissing(checked.document, operationName)
    return missing === null ? checked : { errors: [missing] }
  }

  #check(source: string): CheckedDocument {
    try {
      const document = parseDocument(source)
      const errors = validateDocument(this.#schema, document)
      return errors.length > 0 ? { errors } : { document }
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] }
      throw error
    }
  }
}

/** Parses as graphql-js does. A document that is nested too deeply for the stack is the caller's mistake, and no fault of the server. */
export function parseDocument(source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    return orTooDeep(() => parse(source, options))
  } catch (error) {
    throw error instanceof GraphQLError ? withCode(error, 'GRAPHQL_PARSE_FAILED') : error
  }
}

/** Validates as graphql-js does, and treats deep nesting as `parseDocument` does. */
export function validateDocument(...args: Parameters<typeof validate>): readonly GraphQLError[] {
  return orTooDeep(() => validate(...args)).map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'))
}

function orTooDeep<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw requestError('GRAPHQL_PARSE_FAILED', 'The document is nested too deeply: send one with fewer levels.')
  }
}
