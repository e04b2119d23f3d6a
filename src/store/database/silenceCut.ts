import { Socket } from 'node:net'

/**
 * A socket that is cut when nothing has passed on it for so long. Of a database that is gone without a word (its machine died, its address is
 * another's) TCP itself says so only after a quarter of an hour, and who waits for an answer waits as long.
 */
export function silenceCut(millis: number): Socket {
  const socket = new Socket()
  socket.setTimeout(millis, () => {
    const error = new Error(`Nothing was heard of the database on this connection for ${millis / 1_000} s: it is cut.`)
    socket.destroy(Object.assign(error, { code: 'ETIMEDOUT' }))
  })
  return socket
}
