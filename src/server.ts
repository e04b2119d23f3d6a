#!/usr/bin/env node
// This file imports nothing of the server, because loading the server fails half-way where too few files may be open.
import { readFileSync } from 'node:fs'

/** The number of files that a server has open at once while it starts. */
const filesAtStart = 256

/** How many files this process may open. Node has raised the limit to the hard limit already. */
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
