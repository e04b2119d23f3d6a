// N identical endpoint subscriptions, three ways in one run: this server's shared frames, a bare ws.send of the same bytes, and graphql-ws
// executing for each subscriber. Server and clients are processes of their own.
// N=1000,5000 CHANGES=50 npm run bench:fanout
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const sizes = (process.env['N'] ?? '1000').split(',').map(Number)
const modes = (process.env['MODES'] ?? 'bare,shared,naive').split(',')
const changes = Number(process.env['CHANGES'] ?? 50)

/** What the parent and the two processes tell each other. */
export interface Told {
  readonly url?: string
  readonly token?: string
  /** Bytes of one message. */
  readonly bytes?: number
  readonly rss?: number
  readonly cpuMicros?: number
  /** When a change was asked for or its last delivery came, in epoch milliseconds. */
  readonly at?: number
  readonly deliveries?: number
}

interface Result {
  readonly mode: string
  readonly subscribers: number
  /** Without what the change itself costs. */
  readonly cpuMicrosPerDelivery: number
  readonly cpuMillisPerChange: number
  readonly millisP50: number
  readonly millisP99: number
  readonly kiBPerSubscriber: number
  readonly bytes: number
}

class Part {
  readonly #process: ChildProcess

  constructor(file: string, env: Record<string, string>) {
    const code = `await (await import('vite')).runnerImport('./test/bench/${file}')`
    this.#process = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', code], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#process.once('exit', (code) => {
      // Whoever waits for its word would wait for ever.
      if (code !== 0) process.exit(1)
    })
  }

  async ask(what: string): Promise<Told> {
    const answer = once(this.#process, 'message')
    this.#process.send(what)
    return (await answer)[0] as Told
  }

  async hear(): Promise<Told> {
    return (await once(this.#process, 'message'))[0] as Told
  }

  async stop(): Promise<void> {
    const exit = once(this.#process, 'exit')
    this.#process.send('stop')
    await exit
  }
}

async function measure(mode: string, subscribers: number): Promise<Result> {
  const server = new Part('fanoutServer.ts', { MODE: mode })
  const { url = '', token = '' } = await server.hear()
  // What a change costs by itself, without anybody who hears of it.
  const idle = await server.ask('cpu')
  for (let change = 0; change < changes; change++) await server.ask('change')
  const alone = ((await server.ask('cpu')).cpuMicros ?? 0) - (idle.cpuMicros ?? 0)
  const empty = await server.ask('measure')
  const clients = new Part('fanoutClients.ts', { URL: url, TOKEN: token, N: String(subscribers) })
  const { bytes = 0 } = await clients.hear()
  const full = await server.ask('measure')
  const before = await server.ask('cpu')
  const millis: number[] = []
  for (let change = 0; change < changes; change++) {
    const last = clients.hear()
    const { at = 0 } = await server.ask('change')
    millis.push(((await last).at ?? 0) - at)
  }
  const end = await server.ask('cpu')
  await clients.stop()
  await server.stop()
  millis.sort((a, b) => a - b)
  return {
    mode,
    subscribers,
    cpuMicrosPerDelivery: ((end.cpuMicros ?? 0) - (before.cpuMicros ?? 0) - alone) / (changes * subscribers),
    cpuMillisPerChange: alone / changes / 1_000,
    millisP50: millis[Math.floor(millis.length / 2)] ?? 0,
    millisP99: millis[Math.floor(millis.length * 0.99)] ?? 0,
    kiBPerSubscriber: ((full.rss ?? 0) - (empty.rss ?? 0)) / 1_024 / subscribers,
    bytes,
  }
}

console.log('CPU is of the server process; a change alone: committed, with nobody who hears of it.')
console.log(
  'mode    subscribers  bytes  CPU µs per delivery  CPU ms of a change alone  change → last: p50 ms  p99 ms  KiB per subscriber',
)
for (const subscribers of sizes) {
  for (const mode of modes) {
    const result = await measure(mode, subscribers)
    console.log(
      mode.padEnd(7),
      String(subscribers).padStart(11),
      String(result.bytes).padStart(6),
      result.cpuMicrosPerDelivery.toFixed(1).padStart(20),
      result.cpuMillisPerChange.toFixed(1).padStart(25),
      result.millisP50.toFixed(1).padStart(23),
      result.millisP99.toFixed(1).padStart(7),
      result.kiBPerSubscriber.toFixed(1).padStart(19),
    )
  }
}
