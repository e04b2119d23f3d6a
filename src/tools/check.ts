import { contractMistakes } from './checkContract.ts'
import { schemaMistakes } from './schemaFile.ts'

// The part of `npm run check` that runs the server's code. It compares schema.graphql with the code and with the contract.

const mistakes = [...schemaMistakes(), ...(await contractMistakes())]
for (const mistake of mistakes) console.error(mistake)
if (mistakes.length > 0) process.exitCode = 1
