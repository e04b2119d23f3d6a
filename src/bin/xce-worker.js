#!/usr/bin/env node
// npx needs a file that exists before the first build. This one builds dist/ if it is missing, then runs the worker.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = new URL('../../dist/worker.js', import.meta.url)

if (!existsSync(program)) {
  console.error('Building, once …')
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) {
    console.error(`The build failed: run "npm ci" and "npm run build" in ${root}.`)
    process.exit(1)
  }
}
await import(program.href)
