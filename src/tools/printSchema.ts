import { readFileSync, writeFileSync } from 'node:fs'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from '../graphql/schema.ts'

// Prints the API to schema.graphql at the top of the project. With --check it changes nothing and fails when the file
// differs.

const file = new URL('../../schema.graphql', import.meta.url)
const printed = `${printSchema(lexicographicSortSchema(schema))}\n`

function current(): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

if (!process.argv.includes('--check')) {
  writeFileSync(file, printed)
} else if (current() !== printed) {
  console.error(
    'schema.graphql is stale: it differs from the code. Run `node dist/tools/printSchema.js` after a build, and commit the file.',
  )
  process.exitCode = 1
}
