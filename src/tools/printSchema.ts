import { writeFileSync } from 'node:fs'
import { readWords } from './commandLine.ts'

const usage =
  "npm run schema prints the API to schema.graphql and the worker's protocol to src/graphql/workerProtocol/worker.graphql. It takes no words."

if (readWords(usage, 0) !== null) {
  const { schemaFiles } = await import('./schemaFile.ts')
  for (const { url, printed } of schemaFiles()) writeFileSync(url, printed)
}
