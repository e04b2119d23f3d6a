import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** XCE_TEST_DIST names another directory, for who compiles into one of their own. */
const dist = process.env['XCE_TEST_DIST'] ?? fileURLToPath(new URL('../../dist/', import.meta.url))

/** A compiled program of the product. Stories run what users run; `npm test` builds it first. */
export function built(program: string): string {
  const file = path.join(dist, program)
  if (!existsSync(file)) throw new Error(`${file} is not there: run "npm run build" first.`)
  return file
}
