import { readFileSync } from 'node:fs'
import { type GraphQLSchema, printSchema } from 'graphql'
import { schema, workerSchema } from '../graphql/schema.ts'

interface SchemaFile {
  /** Its path from the top of the project. */
  readonly path: string
  readonly url: URL
  readonly printed: string
}

/** The files that a schema is printed to: the API of users at the top of the project, the worker's protocol beside its code. */
export function schemaFiles(): readonly SchemaFile[] {
  return [fileOf('schema.graphql', schema), fileOf('src/graphql/workerProtocol/worker.graphql', workerSchema)]
}

function fileOf(path: string, of: GraphQLSchema): SchemaFile {
  return {
    path,
    url: new URL(`../../${path}`, import.meta.url),
    printed: `${printSchema(of)}\n`,
  }
}

/** One sentence for each file that differs from the code. */
export function schemaMistakes(): string[] {
  return schemaFiles().flatMap(({ path, url, printed }) =>
    textOf(url) === printed
      ? []
      : [`${path} is stale: it differs from the code. Run "npm run schema" and commit the file.`],
  )
}

function textOf(url: URL): string | null {
  try {
    return readFileSync(url, 'utf8')
  } catch {
    return null
  }
}
