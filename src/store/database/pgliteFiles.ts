import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

/** What PGlite loads when it opens a database, as options of `PGlite.create`. */
interface PgliteFiles {
  readonly pgliteWasmModule: WebAssembly.Module
  readonly fsBundle: Blob
}

let files: Promise<PgliteFiles> | null = null

/**
 * Returns PGlite's program and files, which are read and compiled once in a process. PGlite itself would do that at each
 * opening, which takes 0.4 s of a core.
 */
export function pgliteFiles(): Promise<PgliteFiles> {
  files ??= loadFiles()
  return files
}

async function loadFiles(): Promise<PgliteFiles> {
  const directory = path.dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  const [program, bundle] = await Promise.all(
    ['pglite.wasm', 'pglite.data'].map((name) => readFile(path.join(directory, name))),
  )
  if (program === undefined || bundle === undefined) throw new Error('Broken: two files were read.')
  return { pgliteWasmModule: await WebAssembly.compile(program), fsBundle: new Blob([bundle]) }
}
