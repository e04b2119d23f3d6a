import {
  type DocumentNode,
  type GraphQLError,
  GraphQLError as GraphQLErrorClass,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql'

export type CheckedDocument = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] }

const kept = 500
const longestKept = 65_536

/** Parses and validates documents, and remembers the last ones: subscribers mostly send the same. */
export class Documents {
  readonly #schema: GraphQLSchema
  readonly #checked = new Map<string, CheckedDocument>()

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
  }

  check(source: string): CheckedDocument {
    const known = this.#checked.get(source)
    const checked = known ?? this.#check(source)
    if (source.length > longestKept) return checked
    // Deleted and set again: the map's order is the order of use.
    this.#checked.delete(source)
    this.#checked.set(source, checked)
    if (this.#checked.size > kept) this.#checked.delete(this.#checked.keys().next().value ?? '')
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
