import { readFileSync } from 'node:fs'
import { Kind, parse, print, validate } from 'graphql'
import { schema } from '../../src/graphql/schema.ts'

export interface ReadmeOperation {
  readonly name: string
  readonly kind: 'query' | 'mutation' | 'subscription'
  readonly document: string
}

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

/** Every GraphQL operation that README.md shows, in its order: in blocks of graphql, in requests by curl, and what it says to ask of a service. */
export function readmeOperations(): readonly ReadmeOperation[] {
  const found = [...readme.matchAll(/^```graphql\n(.*?)^```|"query": "((?:[^"\\]|\\.)*)"|`(\w+ \{[^`]*\})`/gms)]
  return found.flatMap(([, block, body, selection]) => {
    if (block !== undefined) return operationsOf(block)
    if (body !== undefined) return operationsOf(JSON.parse(`"${body}"`) as string)
    const document = `query { services(first: 100) { nodes { ${selection} } } }`
    return isValid(document) ? operationsOf(document) : []
  })
}

function operationsOf(text: string): ReadmeOperation[] {
  const whole = parse(text)
  return whole.definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return []
    const { operation, name } = definition
    const document = print({ ...whole, definitions: [definition] })
    return [{ kind: operation, name: name?.value ?? document.replace(/\s+/g, ' ').slice(0, 80), document }]
  })
}

function isValid(document: string): boolean {
  try {
    return validate(schema, parse(document)).length === 0
  } catch {
    return false
  }
}
