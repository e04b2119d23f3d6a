import { type ClientRequest, request } from 'node:http'

/** Sends a GET and follows no redirect. A status of 200 to 399 is a success; the body is not read. */
export function probeHttp(
  host: string,
  port: number,
  path: string,
  timeoutMillis: number,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const where = `GET ${path} on port ${port}`
    let query: ClientRequest
    try {
      query = request({ host, port, path, agent: false, headers: { 'user-agent': 'xce-probe', connection: 'close' } })
    } catch (error) {
      // No request can carry this path. Nothing has begun that would have to be ended.
      resolve(`${where} can't be sent: ${error instanceof Error ? error.message : String(error)}`)
      return
    }
    const settle = (result: string | null): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(result)
      query.destroy()
    }
    const onAbort = (): void => settle('the probe was stopped')
    const timer = setTimeout(() => settle(`${where} did not answer within ${timeoutMillis / 1_000} s`), timeoutMillis)
    query.on('response', (response) => {
      const status = response.statusCode ?? 0
      settle(status >= 200 && status < 400 ? null : `${where} answered ${status}`)
    })
    query.on('error', (error) => settle(`${where} failed: ${error.message}`))
    signal.addEventListener('abort', onAbort, { once: true })
    query.end()
  })
}
