import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { generate } from './generate.mjs'
import { env, FailedError, fingerprint, root, runMain } from './project.mjs'

// `npm run check` runs all static checks, as many at once as there are cores. Each prints what it found when it ends. All run,
// also when one fails.

/**
 * @typedef {object} Check
 * @property {string} what
 * @property {readonly string[]} command
 * @property {boolean} [readsGenerated] whether it reads what Prisma generates and so waits for it
 * @property {readonly string[]} [reads] everything on which its result depends; while that is as it was when the check passed, it does not run again
 */

const workerSchema = 'src/graphql/workerProtocol/worker.graphql'

/**
 * The longest stand first, so that no core waits for one at the end.
 * @type {readonly Check[]}
 */
const checks = [
  {
    what: 'linter of the printed schemas',
    command: ['eslint', '--max-warnings', '0', 'schema.graphql', workerSchema],
    reads: ['schema.graphql', workerSchema, 'eslint.config.js', 'src/tools/check.mjs', 'package-lock.json'],
  },
  // Each further checker of the compiler makes many of the same types again, and the other checks use the other cores.
  { what: 'types', command: ['tsc', '-p', 'tsconfig.json', '--checkers', '1'], readsGenerated: true },
  { what: 'formatter and linter', command: ['biome', 'check', '--error-on-warnings', '.'], readsGenerated: true },
  {
    what: 'printed schemas and contract',
    command: ['node', 'src/tools/run.mjs', 'src/tools/check.ts'],
    readsGenerated: true,
  },
  { what: 'layers', command: ['node', 'test/lint/layers.mjs'], readsGenerated: true },
]

const cache = `${root}node_modules/.cache/xce-services`
const passedFile = `${cache}/passed.json`

/** Returns hashes of what the checks read when they passed, by their names. */
function readPassed() {
  try {
    return /** @type {Record<string, string>} */ (JSON.parse(readFileSync(passedFile, 'utf8')))
  } catch {
    return {}
  }
}

/**
 * @param {readonly string[]} command
 * @returns {Promise<{ status: number | null, said: string }>}
 */
function end([program = '', ...words]) {
  const child = spawn(program, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      said += part
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, said: said.trim() }))
  })
}

async function main() {
  const generated = generate()
  generated.catch(() => undefined)
  const passed = readPassed()
  const waiting = [...checks]
  /** @type {string[]} */
  const failed = []

  /** @param {Check} check */
  async function make({ what, command, readsGenerated = false, reads }) {
    if (readsGenerated) await generated
    const now = reads === undefined ? null : fingerprint(reads)
    if (now !== null && passed[what] === now) {
      console.log(`✓ ${what} (unchanged since it passed)`)
      return
    }
    const began = performance.now()
    const { status, said } = await end(command)
    console.log(`${status === 0 ? '✓' : '✗'} ${what} (${((performance.now() - began) / 1_000).toFixed(1)} s)`)
    if (status !== 0) {
      failed.push(what)
      console.log(said)
    } else if (now !== null) passed[what] = now
  }

  async function makeAll() {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await make(next)
  }

  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, makeAll))
  mkdirSync(cache, { recursive: true })
  writeFileSync(passedFile, JSON.stringify(passed))
  if (failed.length > 0) throw new FailedError(`Failed: ${failed.join('; ')}.`)
}

await runMain('npm run check runs all static checks side by side.', main)
