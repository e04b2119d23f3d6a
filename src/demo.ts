// `npm run demo` shows the main job on real processes, beginning with an empty directory. `-- --exit` makes it end after
// the story, with status 0 or 1.
import path from 'node:path'
import pc from 'picocolors'
import { Api } from './demo/api.ts'
import { readWords } from './demo/commandLine.ts'
import { EndpointWatch } from './demo/endpointWatch.ts'
import { hello } from './demo/request.ts'
import { rolloutsUnderLoad } from './demo/rollouts.ts'
import { ServerProcess } from './demo/serverProcess.ts'
import { onStopSignals } from './signals/stopSignals.ts'

const profile = {
  name: 'hello',
  command: [process.execPath, path.join(import.meta.dirname, 'demo', 'helloServer.js')],
  ports: [{ name: 'http' }],
  cpuMillis: 100,
  memoryMiB: 64,
  readiness: { http: { port: 'http', path: '/healthz' }, periodSeconds: 1 },
  stop: { drainSeconds: 1, graceSeconds: 5 },
}
const failed = '... on Error { message } ... on InvalidInputError { issues { path message } }'

function step(text: string): void {
  console.log(`\n${pc.bold(pc.cyan('▸'))} ${pc.bold(text)}`)
}

async function story(api: Api): Promise<void> {
  step('Apply the profile "hello": a small HTTP server, one port "http" (any free), an HTTP readiness probe')
  await api.mutate(
    `mutation Apply($input: ApplyProfileInput!) { applyProfile(input: $input) { ${failed} ... on ApplyProfilePayload { created } } }`,
    { input: profile },
  )

  step('Create the service "web" with 3 replicas and follow its endpoint')
  let began = performance.now()
  await api.mutate(
    `mutation Create($input: CreateServiceInput!) { createService(input: $input) { ${failed} ... on CreateServicePayload { service { id } } } }`,
    {
      input: { name: 'web', profile: 'hello', replicas: 3 },
    },
  )
  const watch = new EndpointWatch(api, 'web')
  const created = await watch.until('3 ready replicas', began, (a) => a.length === 3)
  console.log(`3 replicas were ready ${created.toFixed(0)} ms after the call.`)

  step('Request each address')
  for (const { hostPort } of watch.addresses)
    console.log(`http://${hostPort}/ → ${JSON.stringify(await hello(hostPort))}`)

  const victim = watch.addresses[0]
  if (!victim) throw new Error('The table is empty.')
  const { pid } = await hello(victim.hostPort)
  step(
    `Kill process ${pid} of web[${victim.index}] with SIGKILL: its address leaves, and its worker restarts it in place`,
  )
  began = performance.now()
  process.kill(pid, 'SIGKILL')
  const gone = await watch.until('the address to leave', began, (a) => !a.some((x) => x.id === victim.id))
  const back = await watch.until('the in-place restart', began, (a) =>
    a.some((x) => x.replicaId === victim.replicaId && x.start === victim.start + 1),
  )
  console.log(
    `The address left after ${gone.toFixed(0)} ms; start ${victim.start + 1} of the same replica was ready ${back.toFixed(0)} ms after the kill.`,
  )

  const killed = watch.addresses[1]
  if (!killed) throw new Error('The table has one address only.')
  step(`Call killReplica on web[${killed.index}]: a replacement comes, a new replica with the same index`)
  began = performance.now()
  const known = new Set(watch.addresses.map((a) => a.replicaId))
  await api.mutate(
    `mutation Kill($input: KillReplicaInput!) { killReplica(input: $input) { ${failed} ... on KillReplicaPayload { replica { id } } } }`,
    {
      input: { replica: { id: killed.replicaId } },
    },
  )
  const replaced = await watch.until(
    'the replacement',
    began,
    (a) => a.length === 3 && a.some((x) => !known.has(x.replicaId)),
  )
  console.log(`The replacement was ready ${replaced.toFixed(0)} ms after the call.`)

  for (const replicas of [5, 2]) {
    step(`Scale to ${replicas}`)
    began = performance.now()
    await api.mutate(
      `mutation Scale($input: ScaleServiceInput!) { scaleService(input: $input) { ${failed} ... on ScaleServicePayload { service { desiredReplicas } } } }`,
      {
        input: { service: { name: 'web' }, replicas },
      },
    )
    const scaled = await watch.until(`${replicas} ready replicas`, began, (a) => a.length === replicas)
    console.log(`${replicas} addresses ${scaled.toFixed(0)} ms after the call.`)
  }

  step('Scale to 4; then update, roll back and restart while clients request the newest table as fast as they can')
  began = performance.now()
  await api.mutate(
    `mutation Scale($input: ScaleServiceInput!) { scaleService(input: $input) { ${failed} ... on ScaleServicePayload { service { desiredReplicas } } } }`,
    {
      input: { service: { name: 'web' }, replicas: 4 },
    },
  )
  await watch.until('4 ready replicas', began, (a) => a.length === 4)
  await rolloutsUnderLoad(api, 'web', profile.command, () => watch.addresses)
}

/**
 * Resolves at Ctrl-C, SIGTERM, or the end of the terminal. The server has its own session and would outlive the demo, so
 * the demo has to stop it.
 */
function interrupted(server: ServerProcess): Promise<void> {
  return new Promise((resolve) =>
    onStopSignals(['SIGINT', 'SIGTERM', 'SIGHUP'], {
      first: () => resolve(),
      again: (signal) => {
        server.tellToStop()
        console.error(`${signal} again: the demo ends at once; its server, worker and replicas stop after it.`)
        process.exit(1)
      },
    }),
  )
}

async function main(): Promise<number> {
  const words = readWords(process.argv.slice(2))
  if (typeof words === 'number') return words
  let status = 0
  step('Start the server on an empty directory (the embedded database is made first: 5 to 10 seconds)')
  const server = await ServerProcess.start()
  const interruption = interrupted(server)
  try {
    const { url, token } = await server.listening()
    console.log(`The API is at ${url}; the log is ${server.logFile}`)
    const api = new Api(url, token)
    try {
      await Promise.race([
        story(api),
        interruption.then(() => {
          throw new Error('Interrupted.')
        }),
      ])
      if (!words.exit) {
        step(`Everything works. GraphiQL is at ${url}`)
        console.log(
          `Its token (header: {"authorization": "Bearer …"}) is in ${path.join(server.dataDirectory, 'admin-token')}. Ctrl-C stops the server and its replicas.`,
        )
        await interruption
      }
    } finally {
      await api.close()
    }
  } catch (error) {
    status = 1
    console.error(pc.red(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`))
  }
  step('Stop the server, its worker and all replicas')
  try {
    await server.stop(status !== 0)
    console.log('All have ended.')
  } catch (error) {
    status = 1
    console.error(pc.red(error instanceof Error ? error.message : String(error)))
  }
  return status
}

process.exitCode = await main()
