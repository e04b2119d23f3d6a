// The clients of fanout.ts: N sockets with one subscription each. Tells when all have had a frame.
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Told } from './fanout.ts'
import { fanoutDocument } from './fanoutDocument.ts'

const subscribers = Number(process.env['N'])
const url = (process.env['URL'] ?? '').replace(/^http/, 'ws')
const tell = (told: Told) => process.send?.(told)

let frames = 0
let bytes = 0
const sockets: WebSocket[] = []
for (let from = 0; from < subscribers; from += 50) {
  const some = Array.from({ length: Math.min(50, subscribers - from) }, async () => {
    const socket = new WebSocket(url, 'graphql-transport-ws', { perMessageDeflate: false })
    sockets.push(socket)
    await once(socket, 'open')
    socket.send(
      JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${process.env['TOKEN']}` } }),
    )
    await once(socket, 'message')
    const id = crypto.randomUUID()
    const first = once(socket, 'message')
    socket.send(
      JSON.stringify({ id, type: 'subscribe', payload: { query: fanoutDocument, variables: { service: 'fan' } } }),
    )
    const [message] = (await first) as [Buffer]
    bytes = message.length
    socket.on('message', (data: Buffer) => {
      // A BOOKMARK while others are still coming is no delivery.
      if (data.includes('BOOKMARK')) return
      if (++frames % subscribers === 0) tell({ at: performance.timeOrigin + performance.now() })
    })
  })
  await Promise.all(some)
}
process.on('message', (what) => {
  if (what !== 'stop') return
  for (const socket of sockets) socket.terminate()
  process.disconnect()
})
process.once('disconnect', () => process.exit())
tell({ bytes })
