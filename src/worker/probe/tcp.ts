import { connect } from 'node:net'
import { reasonOf } from './reason.ts'

/** Succeeds when the connection is made. */
export function probeTcp(
  host: string,
  port: number,
  timeoutMillis: number,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const settle = (result: string | null): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(result)
      socket.destroy()
    }
    const onAbort = (): void => settle('the probe was stopped')
    const timer = setTimeout(
      () => settle(`port ${port} took no connection within ${timeoutMillis / 1_000} s`),
      timeoutMillis,
    )
    const socket = connect({ host, port })
    socket.on('connect', () => settle(null))
    socket.on('error', (error) => settle(`a connection to port ${port} failed: ${reasonOf(error)}`))
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
