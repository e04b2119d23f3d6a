import { generate } from './generate.mjs'
import { isProgram, run, runMain } from './project.mjs'

// `npm run build` compiles src/ to dist/. dist/.tsbuildinfo tells the compiler which files have changed since the last build;
// it lies there, because a compiler that finds it without its output writes nothing.

export async function build() {
  await generate()
  await run('tsc', '-p', 'tsconfig.build.json')
}

if (isProgram(import.meta.url)) await runMain('npm run build compiles src/ to dist/.', build)
