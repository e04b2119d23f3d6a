import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watchFile } from 'node:fs'
import { createInterface } from 'node:readline'
import { generate } from './generate.mjs'
import { env, FailedError, root, runMain } from './project.mjs'

// `npm run dev`: compiles src/ whenever it changes, and then starts the server anew, its local worker with it. While src/ does not
// compile, the last server that did runs on. Ctrl-C ends all. The settings are the server's own, from the environment.

/** @type {import('node:child_process').ChildProcess | null} */
let server = null
let ending = false
/** Restarts run one after the other. */
let restarts = Promise.resolve()

async function stopServer() {
  const running = server
  server = null
  if (running === null || running.exitCode !== null || running.signalCode !== null) return
  const exited = once(running, 'exit')
  running.kill('SIGTERM')
  await exited
}

async function restart() {
  await stopServer()
  if (ending) return
  // In a process group of its own: Ctrl-C reaches this process only, for a server that gets a second signal ends at once.
  server = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  server.once('exit', (status, signal) => {
    if (!ending && server !== null && status !== 0)
      console.error(`The server ended (${status ?? signal}): it starts again at the next change.`)
  })
}

async function dev() {
  await generate()
  const compiler = spawn('tsc', ['-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      ending = true
      compiler.kill()
    })
  }
  watchFile(`${root}prisma/schema.prisma`, { interval: 1_000 }, () => {
    generate().catch((error) => console.error(error.message))
  })
  for await (const line of createInterface({ input: compiler.stdout })) {
    console.log(line)
    if (/Found 0 errors/.test(line)) restarts = restarts.then(restart)
  }
  await restarts
  await stopServer()
  if (!ending) throw new FailedError('The compiler ended.')
  process.exit(0)
}

await runMain(dev)
