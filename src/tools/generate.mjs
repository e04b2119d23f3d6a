import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fingerprint, isProgram, root, run, runMain } from './project.mjs'

// `npm run generate` makes src/generated/ from prisma/schema.prisma, if it is missing or was made from another schema.

/** These files exist when the generators have finished. */
const written = ['src/generated/prisma/client.ts', 'src/generated/pothos.ts']
const inputs = [
  'prisma/schema.prisma',
  'prisma.config.ts',
  'node_modules/prisma/package.json',
  'node_modules/@pothos/plugin-prisma/package.json',
  'node_modules/prisma-json-types-generator/package.json',
]
/** It lies in the generated folder, so that it is removed together with the rest. */
const stamp = `${root}src/generated/.made-from`

/** Takes 4 s when it has to run and a millisecond otherwise. */
export async function generate() {
  const now = fingerprint(inputs)
  if (now === madeFrom() && written.every((file) => existsSync(root + file))) return
  await run('prisma', 'generate')
  writeFileSync(stamp, now)
}

/** Returns null when nothing is generated or nobody knows from what. */
function madeFrom() {
  try {
    return readFileSync(stamp, 'utf8')
  } catch {
    return null
  }
}

if (isProgram(import.meta.url)) {
  await runMain('npm run generate makes src/generated/ from prisma/schema.prisma, where that has changed.', generate)
}
