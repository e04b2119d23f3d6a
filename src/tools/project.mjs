import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

// The tools of development share these functions. They are plain JavaScript, because they run before anything is compiled.

/** The project's directory, with a slash at its end. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The environment in which the programs of packages are found, also when npm did not start this process. */
export const env = { ...process.env, PATH: `${root}node_modules/.bin${path.delimiter}${process.env['PATH']}` }

/**
 * Runs a program to its end with this process's input and output. Throws where it fails.
 * @param {string} program
 * @param {readonly string[]} words
 */
export async function run(program, ...words) {
  const child = spawn(program, words, { cwd: root, env, stdio: 'inherit' })
  const ended = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (status, signal) => resolve(status ?? signal))
  })
  if (ended !== 0) throw new FailedError(`${program} failed (${ended}).`)
}

/** Is thrown after a program has failed and printed why, so nobody needs the stack. */
export class FailedError extends Error {
  /** @override */
  name = 'FailedError'
}

/**
 * Says whether Node was started with this module, so that it was not imported by another one.
 * @param {string} url its import.meta.url
 */
export function isProgram(url) {
  return process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(url)
}

/**
 * Runs a program that takes no words but --help, and ends with status 1 where a step of it failed.
 * @param {string} usage says what the program does
 * @param {() => Promise<unknown>} main
 */
export async function runMain(usage, main) {
  const words = process.argv.slice(2)
  if (words.some((word) => word === '--help' || word === '-h')) {
    console.log(usage)
    return
  }
  if (words.length > 0) {
    console.error(`It takes no words, not ${JSON.stringify(words[0])}.\n\n${usage}`)
    process.exitCode = 2
    return
  }
  try {
    await main()
  } catch (error) {
    if (!(error instanceof FailedError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

/**
 * A hash of the content of files; a folder stands for all files in it.
 * @param {readonly string[]} names in the project
 */
export function fingerprint(names) {
  const hash = createHash('sha256')
  const add = (/** @type {string} */ name) => {
    if (statSync(root + name).isDirectory())
      for (const entry of readdirSync(root + name).sort()) add(`${name}/${entry}`)
    else hash.update(`${name}\n`).update(readFileSync(root + name))
  }
  for (const name of names) add(name)
  return hash.digest('hex')
}
