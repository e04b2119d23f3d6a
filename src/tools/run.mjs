import path from 'node:path'
import { runnerImport } from 'vite'

// `node src/tools/run.mjs FILE.ts [word…]` runs one TypeScript program of this project without compiling the others. It checks no types.

const [, , file, ...words] = process.argv
const usage =
  'node src/tools/run.mjs FILE.ts [WORD…] runs one TypeScript program of this project without compiling the others.'
if (file === '--help' || file === '-h') console.log(usage)
else if (file === undefined || file.startsWith('-')) {
  console.error(`Name the program to run first.\n\n${usage}`)
  process.exitCode = 2
} else {
  const program = path.resolve(file)
  process.argv = [process.execPath, program, ...words]
  await runnerImport(program)
}
