import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createService, placedReplicas, remove } from '../support/drivers/apiService.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { type TcpProxy, tcpProxy } from '../support/drivers/tcpProxy.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

let server: TestServer
let worker: HandWorker
let proxy: TcpProxy
const children: ChildProcess[] = []
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker())
  proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) })
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(async () => {
  await proxy.close()
  await server.stop()
})

const file = (name: string) => fileURLToPath(new URL(`../../docs/clients/${name}`, import.meta.url))

/** Whether a Python has a module. `.ci/run` installs what is needed; elsewhere a client whose module is missing is skipped. */
const has = (python: string, module: string): boolean => spawnSync(python, ['-c', `import ${module}`]).status === 0

/** Debian's Python is the one that has Debian's packages. */
const programs = [
  ['follow_sse.py', 'python3', has('python3', 'urllib')],
  ['follow_websockets.py', '/usr/bin/python3', has('/usr/bin/python3', 'websockets')],
  ['follow.mjs', process.execPath, true],
] as const
const missing = programs.filter(([, , isThere]) => !isThere)
if (missing.length > 0)
  console.log(`Skipped, because their Python or its module is missing: ${missing.map(([name]) => name).join(', ')}`)

test.each(programs.filter(([, , isThere]) => isThere))(
  'docs/clients/%s follows an endpoint over a break to its end',
  async (name, program) => {
    const service = name.replace(/\W|_/g, '-')
    await createService(server.client, service, 2, { readiness: { tcp: { port: 'http' } } })
    const [one, two] = await placedReplicas(server.client, service, 2)
    const env = {
      ...process.env,
      XCE_URL: `http://127.0.0.1:${proxy.port}/graphql`,
      XCE_TOKEN: server.client.token ?? '',
    }
    const child = spawn(program, [file(name), service], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const ended = once(child, 'exit')
    const lines: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))

    await until(() => lines.includes('SNAPSHOT: none'), 'it follows')
    await worker.report({ replica: one?.id ?? '', state: 'RUNNING', ready: true })
    await until(() => lines.some((line) => /^DELTA: \S+$/.test(line)), 'the first address came')
    proxy.cut()
    await worker.report({ replica: two?.id ?? '', state: 'RUNNING', ready: true })
    await until(() => lines.some((line) => /^DELTA: \S+ \S+$/.test(line)), 'the second one came after the break')
    // It went on where it was, so nothing was told twice.
    expect(lines.filter((line) => line.startsWith('SNAPSHOT'))).toHaveLength(1)

    await remove(server.client, service)
    for (const replica of [one, two])
      await worker.report({ replica: replica?.id ?? '', state: 'ENDED', endReason: 'STOPPED' })
    expect(await ended).toEqual([0, null])
    expect(lines.at(-1)).toMatch(/^GONE:/)
  },
)
