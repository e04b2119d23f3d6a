import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watchFile } from 'node:fs'
import { createInterface } from 'node:readline'
import { generate } from './generate.mjs'
import { env, FailedError, root, runMain } from './project.mjs'

// `npm run dev` compiles src/ whenever it changes and then restarts the server and its local worker. While src/ does not
// compile, the previous server runs on. Ctrl-C ends everything. The settings are the server's own, from the environment.

/** @type {import('node:child_process').ChildProcess | null} */
let server = null
/** @type {import('node:child_process').ChildProcess | null} */
let compiler = null
let ending = false
let schemaChanged = false
/** Restarts run one after the other. */
let restarts = Promise.resolve()
/** Editors write a file in several steps, and each is compiled. A restart waits this long for the next step. */
const calmMillis = 300
/** @type {NodeJS.Timeout | undefined} */
let calm

async function stopServer() {
  const running = server
  server = null
  if (running === null || running.exitCode !== null || running.signalCode !== null) return
  const exited = once(running, 'exit')
  running.kill('SIGTERM')
  await exited
}

async function restartServer() {
  await stopServer()
  if (ending) return
  // The server has a process group of its own, so that Ctrl-C reaches only this process: a second signal would end it at once.
  const started = spawn(process.execPath, ['dist/server.js'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  server = started
  started.once('exit', (status, signal) => {
    if (server === started) console.error(`The server ended (${status ?? signal}): it starts again at the next change.`)
  })
}

function restartSoon() {
  restarts = restarts.then(restartServer)
}

/** Resolves when the compiler has ended. */
async function compile() {
  // npm's tsc is a script that starts the compiler and passes no signal on, so both get a group that is ended as a whole.
  const running = spawn('tsc', ['-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  compiler = running
  const exited = once(running, 'exit')
  for await (const line of createInterface({ input: running.stdout })) {
    console.log(line)
    if (line !== '') clearTimeout(calm)
    if (line.includes('Found 0 errors')) calm = setTimeout(restartSoon, calmMillis)
  }
  await exited
}

function endCompiler() {
  if (compiler?.pid === undefined || compiler.exitCode !== null || compiler.signalCode !== null) return
  process.kill(-compiler.pid, 'SIGTERM')
}

function end() {
  ending = true
  endCompiler()
}

async function dev() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, end)
  // Prisma removes its output before it writes it again, so nothing is compiled meanwhile.
  watchFile(`${root}prisma/schema.prisma`, { interval: 1_000 }, () => {
    schemaChanged = true
    endCompiler()
  })
  do {
    schemaChanged = false
    await generate()
    if (!ending) await compile()
  } while (schemaChanged && !ending)
  clearTimeout(calm)
  await restarts
  await stopServer()
  if (!ending) throw new FailedError('The compiler ended.')
  process.exit(0)
}

await runMain(
  'npm run dev compiles src/ on every change and restarts the server with its local worker. Ctrl-C ends everything.',
  dev,
)
