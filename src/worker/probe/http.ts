import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { HttpHeader, HttpProbeAction } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { reasonOf } from './reason.ts'
import { statusOf } from './statusLine.ts'

/** What an answer may have before its status; there only blank lines and interim answers can be. */
const mostBytesBeforeStatus = 16_384
/** How long and how much of an answer is read on after its status, so that most programs can write it to its end. */
const restMillis = 1_000
const mostBytesOfRest = 65_536

/**
 * Sends a GET and follows no redirect. A status of 200 to 399 is a success. Only the status is read, because a parser
 * of whole answers refuses some that other clients take (line feeds alone, large headers).
 */
export function probeHttp(
  action: HttpProbeAction,
  host: string,
  port: number,
  timeoutMillis: number,
  signal: AbortSignal,
): Promise<string | null> {
  return new Promise((resolve) => {
    const where = `GET ${action.path} on port ${port}`
    const request = requestOf(action, host, port)
    if (request === null) {
      resolve(`${where} can't be sent: its path or a header contains what no request can carry`)
      return
    }
    const socket = open(action, host, port, () => socket.write(request))
    let text = ''
    let settled = false
    const settle = (result: string | null): void => {
      settled = true
      resolve(result)
    }
    const fail = (why: string): void => {
      if (!settled) settle(`${where} ${why}`)
      socket.destroy()
    }
    const onAbort = (): void => fail('was given up, because the probe was stopped')
    let timer = setTimeout(() => fail(`did not answer within ${timeoutMillis / 1_000} s`), timeoutMillis)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (settled) {
        if (text.length > mostBytesOfRest) socket.destroy()
        return
      }
      // A status ends with its line, so parts of a line need no look.
      const status = chunk.includes('\n') ? statusOf(text) : null
      if (status === null) {
        if (text.length > mostBytesBeforeStatus) fail(`sent ${text.length} bytes without a status`)
        return
      }
      if (status === 'none') {
        fail(notHttp(text))
        return
      }
      settle(status >= 200 && status < 400 ? null : `${where} answered ${status}`)
      text = ''
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), restMillis)
    })
    socket.on('end', () => {
      const status = statusOf(`${text}\n`)
      if (settled || status === null) fail('was closed without an answer')
      else if (status === 'none') fail(notHttp(text))
      else settle(status >= 200 && status < 400 ? null : `${where} answered ${status}`)
    })
    socket.on('error', (error) => fail(`failed: ${reasonOf(error)}`))
    socket.on('close', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      fail('was closed without an answer')
    })
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

function open({ scheme, headers }: HttpProbeAction, host: string, port: number, onOpen: () => void): Socket {
  if (scheme === 'HTTP') return connectPlain({ host, port }, onOpen)
  // The certificates of replicas are mostly self-signed and name no host, so they are not verified.
  const name = headerOf(headers, 'host')?.replace(/:\d*$/, '') ?? ''
  const servername = isIP(name) > 0 || name.startsWith('[') ? '' : name
  return connectTls({ host, port, rejectUnauthorized: false, servername }, onOpen)
}

/** The text of the request; null when it would have other lines than it should. */
function requestOf({ path, headers }: HttpProbeAction, host: string, port: number): string | null {
  const defaults = [
    { name: 'Host', value: `${isIP(host) === 6 ? `[${host}]` : host}:${port}` },
    { name: 'User-Agent', value: 'xce-probe' },
    { name: 'Accept', value: '*/*' },
  ].filter(({ name }) => headerOf(headers, name) === null)
  const own = [...defaults, ...headers, { name: 'Connection', value: 'close' }]
  const lines = [`GET ${path} HTTP/1.1`, ...own.map(({ name, value }) => `${name}: ${value}`)]
  const isSound = /^[!-~]+$/.test(path) && lines.every((line) => /^[\t\x20-\x7e]+$/.test(line))
  return isSound ? `${lines.join('\r\n')}\r\n\r\n` : null
}

function headerOf(headers: readonly HttpHeader[], wanted: string): string | null {
  return headers.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())?.value ?? null
}

function notHttp(text: string): string {
  // A TLS server answers a plain request with an alert, whose first byte is 21.
  if (text.startsWith('\x15\x03')) return 'was answered in TLS: give the probe the scheme HTTPS'
  return text.trim() === '' ? 'was closed without an answer' : `was not answered in HTTP but with ${quoted(text)}`
}
