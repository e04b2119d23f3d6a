#!/usr/bin/env node
// Imports nothing of the server's: where too few files may be open, loading that fails half-way, in words of Node's own.
import { readFileSync } from 'node:fs'

/** So many are open at once while a server starts. */
const filesAtStart = 256

/** How many files this process may open; Node has raised it to the hard limit. */
function mostFiles(): number {
  const [, most] = /^Max open files +(\d+)/m.exec(readLimits()) ?? []
  return most === undefined ? Number.POSITIVE_INFINITY : Number(most)
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}

const most = mostFiles()
if (most < filesAtStart) {
  process.stderr.write(
    `The server may open ${most} files, and its start needs ${filesAtStart}: raise "ulimit -n", or LimitNOFILE of its unit, to 1024 or more.\n`,
  )
  process.exitCode = 1
} else {
  const { runServer } = await import('./server/run.ts')
  await runServer(process.argv.slice(2))
}
