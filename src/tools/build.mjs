import { generate } from './generate.mjs'
import { isProgram, run, runMain } from './project.mjs'

// `npm run build`: compiles src/ to dist/, only what has changed since the last time: dist/.tsbuildinfo knows.

export async function build() {
  await generate()
  await run('tsc', '-p', 'tsconfig.build.json')
}

if (isProgram(import.meta.url)) await runMain(build)
