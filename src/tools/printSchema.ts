import { writeFileSync } from 'node:fs'
import { readWords } from './commandLine.ts'

const usage = 'npm run schema prints the API to schema.graphql at the top of the project. It takes no words.'

if (readWords(usage, 0) !== null) {
  const { printedSchema, schemaFile } = await import('./schemaFile.ts')
  writeFileSync(schemaFile, printedSchema())
}
