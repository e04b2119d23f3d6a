import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fingerprint, isProgram, root, run, runMain } from './project.mjs'

// `npm run generate`: makes src/generated/ from prisma/schema.prisma, where it is not there or was made from something else.

/** The generators write these last. */
const written = ['src/generated/prisma/client.ts', 'src/generated/pothos.ts']
const inputs = [
  'prisma/schema.prisma',
  'prisma.config.ts',
  'node_modules/prisma/package.json',
  'node_modules/@pothos/plugin-prisma/package.json',
]
/** In the generated folder, so that whoever removes that removes this too. */
const stamp = `${root}src/generated/.made-from`

/** Costs 4 s where it has to run, and a millisecond where not. */
export async function generate() {
  const now = fingerprint(inputs)
  if (now === madeFrom() && written.every((file) => existsSync(root + file))) return
  await run('prisma', 'generate')
  writeFileSync(stamp, now)
}

/** Null: nothing is generated, or nobody knows from what. */
function madeFrom() {
  try {
    return readFileSync(stamp, 'utf8')
  } catch {
    return null
  }
}

if (isProgram(import.meta.url)) await runMain(generate)
