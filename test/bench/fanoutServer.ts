// The server of fanout.ts, in one of its modes. `change` makes a change that every subscriber hears of.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { execute, subscribe } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { pino } from 'pino'
import { type WebSocket, WebSocketServer } from 'ws'
import { readConfig } from '../../src/config/config.ts'
import { createContext } from '../../src/graphql/kit/context.ts'
import { schema } from '../../src/graphql/schema.ts'
import { startServer } from '../../src/server/compose.ts'
import { ApiClient } from '../support/drivers/apiClient.ts'
import { createService, placedReplicas } from '../support/drivers/apiService.ts'
import { HandWorker } from '../support/drivers/handWorker.ts'
import type { Told } from './fanout.ts'

const tell = (told: Told) => process.send?.(told)
const mode = process.env['MODE']
const now = () => performance.timeOrigin + performance.now()

/** As large as the frames of the other modes. */
const frameBytes = Number(process.env['FRAME_BYTES'] ?? 2_084)
const frame = Buffer.alloc(frameBytes, 32)

/** A whole server with a service of 10 replicas, one of which turns ready and unready. */
async function startWhole() {
  const directory = mkdtempSync(path.join(tmpdir(), 'xce-fanout-'))
  const { config } = readConfig({
    XCE_PORT: '0',
    XCE_DATA_DIR: directory,
    XCE_LOCAL_WORKER: 'off',
    XCE_LEASE_SECONDS: '3600',
  })
  const server = await startServer({ config, log: pino({ level: 'error' }), workerProgram: '', env: {} })
  const token = readFileSync(path.join(directory, 'admin-token'), 'utf8').trim()
  const client = new ApiClient(server.url, token)
  const worker = new HandWorker(client)
  await worker.register()
  await createService(client, 'fan', 10, { readiness: { tcp: { port: 'http' }, periodSeconds: 1 } })
  const replicas = await placedReplicas(client, 'fan', 10)
  for (const { id } of replicas) await worker.report({ replica: id, state: 'RUNNING', ready: true })
  let ready = true
  return {
    app: server.app,
    url: server.url,
    token,
    /** Resolves to when the change was committed. */
    change: async () => {
      ready = !ready
      const committed = new Promise<number>((resolve) => {
        const leave = server.app.committer.onCommitted(() => {
          leave()
          resolve(now())
        })
      })
      // A connection that stood idle while the frames went out may be closed by now.
      await client.send('{ viewer { subject } }').catch(() => undefined)
      await worker.report({ replica: replicas[0]?.id ?? '', state: 'RUNNING', ready })
      return committed
    },
    stop: async () => {
      await client.close()
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const whole = mode === 'bare' ? null : await startWhole()

/** Peers at a port of their own. */
const http = createServer()
const sockets = new WebSocketServer({ server: http, handleProtocols: () => 'graphql-transport-ws' })
const bare = new Set<WebSocket>()
if (mode === 'naive' && whole !== null) {
  const { app } = whole
  const viewer = { subject: 'bench', roles: ['admin'] }
  useServer({ schema, execute, subscribe, context: () => createContext(app, viewer) }, sockets)
} else if (mode === 'bare') {
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data)) as { type: string }
      if (type === 'connection_init') return socket.send('{"type":"connection_ack"}')
      bare.add(socket)
      return socket.send(frame, { binary: false })
    })
  })
}
http.listen(0, '127.0.0.1', () => {
  const peer = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`
  tell({ url: mode === 'shared' && whole !== null ? whole.url : peer, token: whole?.token ?? '' })
})

async function change(): Promise<number> {
  if (whole !== null) return whole.change()
  const at = now()
  for (const socket of bare) socket.send(frame, { binary: false })
  return at
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

process.on('message', async (what) => {
  if (what === 'change') tell({ at: await change() })
  else if (what === 'cpu') tell({ cpuMicros: cpuMicros() })
  else if (what === 'measure') {
    // What the start left is given back first.
    for (let round = 0; round < 4; round++) {
      globalThis.gc?.()
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    tell({ rss: process.memoryUsage().rss })
  } else if (what === 'stop') {
    for (const socket of sockets.clients) socket.terminate()
    http.close()
    await whole?.stop()
    process.disconnect()
  }
})
process.once('disconnect', () => process.exit())
