import {
  type DocumentNode,
  type GraphQLError,
  GraphQLError as GraphQLErrorClass,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'

export type CheckedDocument = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] }

const longestKept = 65_536

/** Parses and validates documents, and remembers the last ones: subscribers mostly send the same. */
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

  #check(source: string): CheckedDocument {
    try {
      const document = parse(source)
      const errors = validate(this.#schema, document)
      return errors.length > 0 ? { errors } : { document }
    } catch (error) {
      if (error instanceof GraphQLErrorClass) return { errors: [error] }
      throw error
    }
  }
}
