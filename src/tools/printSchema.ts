import { writeFileSync } from 'node:fs'
import { printedSchema, schemaFile } from './schemaFile.ts'

// `npm run schema` prints the API to schema.graphql at the top of the project.

writeFileSync(schemaFile, printedSchema())
