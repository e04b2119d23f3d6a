import { readdirSync, readFileSync } from 'node:fs'
import { Kind, parse, print, validate } from 'graphql'
import { schema } from '../../src/graphql/schema.ts'

export interface DocumentedOperation {
  readonly name: string
  readonly kind: 'query' | 'mutation' | 'subscription'
  readonly document: string
}

const root = new URL('../../', import.meta.url)
const files = [
  'README.md',
  ...readdirSync(new URL('docs', root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const text = files.map((file) => readFileSync(new URL(file, root), 'utf8')).join('\n')

/**
 * Every GraphQL operation that README.md and the pages of docs/ show, in their order: in blocks of graphql, after `ask`, in requests by curl, and
 * what they say to ask of a service.
 */
export function documentedOperations(): readonly DocumentedOperation[] {
  const shown = /^```graphql\n(.*?)^```|^ask '([^']*)'|"query": "((?:[^"\\]|\\.)*)"|`(\w+ \{[^`]*\})`/gms
  return [...text.matchAll(shown)].flatMap(([, block, asked, body, selection]) => {
    const whole = block ?? asked
    if (whole !== undefined) return operationsOf(whole)
    if (body !== undefined) return operationsOf(JSON.parse(`"${body}"`) as string)
    const document = `query { services(first: 100) { nodes { ${selection} } } }`
    return isValid(document) ? operationsOf(document) : []
  })
}

function operationsOf(text: string): DocumentedOperation[] {
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
