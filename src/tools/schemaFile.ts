import { readFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from '../graphql/schema.ts'

/** The file of the printed API, at the top of the project. */
export const schemaFile = new URL('../../schema.graphql', import.meta.url)

export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}

/** One sentence when the file differs from the code. */
export function schemaMistakes(): string[] {
  if (currentSchema() === printedSchema()) return []
  return ['schema.graphql is stale: it differs from the code. Run "npm run schema" and commit the file.']
}

function currentSchema(): string | null {
  try {
    return readFileSync(schemaFile, 'utf8')
  } catch {
    return null
  }
}
