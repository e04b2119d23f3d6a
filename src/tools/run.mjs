import path from 'node:path'
import { runnerImport } from 'vite'

// `node src/tools/run.mjs FILE.ts [word…]` runs one TypeScript program of this project without compiling the others. It checks no types.

const [, , file, ...words] = process.argv
if (file === undefined) throw new Error('Name the program to run: node src/tools/run.mjs FILE.ts')
const program = path.resolve(file)
process.argv = [process.execPath, program, ...words]
await runnerImport(program)
