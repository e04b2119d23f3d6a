import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import type { HttpProbeAction } from '../../../src/model/content.ts'
import { probeHttp } from '../../../src/worker/probe/http.ts'
import { selfSigned } from '../../support/fixtures/selfSigned.ts'
import { until } from '../../support/fixtures/until.ts'

type Answer = (socket: Socket, request: string) => void

/** A server that answers each request as it is told, however little that is HTTP. */
async function serve(answer: Answer, tls = false): Promise<number> {
  const onSocket = (socket: Socket): void => {
    socket.on('error', () => undefined)
    socket.once('data', (request) => answer(socket, request.toString('latin1')))
  }
  const server: Server = tls ? createTlsServer(selfSigned, onSocket) : createServer(onSocket)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const probe = (port: number, over: Partial<HttpProbeAction> = {}, seconds = 60) =>
  probeHttp(
    { kind: 'http', port: 'http', path: '/health', scheme: 'HTTP', headers: [], ...over },
    '127.0.0.1',
    port,
    seconds * 1_000,
    new AbortController().signal,
  )

const manyHeaders = Array.from({ length: 400 }, (_, at) => `X-${at}: ${'x'.repeat(50)}`).join('\r\n')

test.each([
  ['line feeds alone', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['24 kB of headers', `HTTP/1.1 200 OK\r\n${manyHeaders}\r\n\r\n`],
  [
    'Content-Length with chunked',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ],
  ['two different Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
  ['an odd header', 'HTTP/1.1 200 OK\r\nno colon here\r\nA B: c\r\n\r\n'],
  ['no reason', 'HTTP/1.1 204\r\n\r\n'],
  ['an interim answer first', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
  ['no line break before the end', 'HTTP/1.0 200 OK'],
])('an answer with %s is taken', async (_what, answer) => {
  expect(await probe(await serve((socket) => socket.end(answer)))).toBeNull()
})

test('an answer that comes in single bytes is taken', async () => {
  const port = await serve((socket) => {
    socket.setNoDelay()
    const write = ([byte, ...others]: string[]): void => {
      if (byte === undefined) return
      socket.write(byte)
      setImmediate(write, others)
    }
    write([...'HTTP/1.1 503 No\r\n\r\n'])
  })
  expect(await probe(port)).toBe(`GET /health on port ${port} answered 503`)
})

test.each([
  ['nothing', '', /was closed without an answer/],
  ['another protocol', '-ERR unknown command\r\n', /was not answered in HTTP but with "-ERR unknown command\\r\\n"/],
  ['an alert of TLS', '\x15\x03\x01\x00\x02\x02\x46', /was answered in TLS: give the probe the scheme HTTPS/],
  ['too much before a status', 'HTTP/1.1 100 Go on\r\n\r\n'.repeat(3_000), /without a status/],
])('an answer with %s fails, and the reason is told', async (_what, answer, reason) => {
  expect(await probe(await serve((socket) => socket.end(Buffer.from(answer, 'latin1'))))).toMatch(reason)
})

test('the rest of an answer is read, so that the program can write it to its end', async () => {
  let isDone = false
  const port = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n')
    setImmediate(() =>
      socket.end('x'.repeat(30_000), () => {
        isDone = true
      }),
    )
  })
  expect(await probe(port)).toBeNull()
  await until(() => isDone, 'the body is written')
})

test('a program that keeps the connection open after its answer is left', async () => {
  let isLeft = false
  const port = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket.on('close', () => {
      isLeft = true
    })
  })
  expect(await probe(port)).toBeNull()
  await until(() => isLeft, 'the connection is closed')
})

test('the request names the probe and its host, and the headers of the profile replace these', async () => {
  const requests: string[] = []
  const port = await serve((socket, request) => {
    requests.push(request)
    socket.end('HTTP/1.1 200 OK\r\n\r\n')
  })
  await probe(port)
  const headers = [
    { name: 'host', value: 'app.example' },
    { name: 'X-Probe', value: 'a b' },
    { name: 'X-Probe', value: 'c' },
  ]
  await probe(port, { path: '/a?b=c', headers })
  expect(requests).toEqual([
    `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: xce-probe\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
    'GET /a?b=c HTTP/1.1\r\nUser-Agent: xce-probe\r\nAccept: */*\r\nhost: app.example\r\nX-Probe: a b\r\nX-Probe: c\r\nConnection: close\r\n\r\n',
  ])
})

test('a header or path with a line break is never sent', async () => {
  expect(await probe(1, { headers: [{ name: 'A', value: 'b\r\nHost: c' }] })).toMatch(/can't be sent/)
  expect(await probe(1, { path: '/ HTTP/1.1\r\nA: b' })).toMatch(/can't be sent/)
})

test('by HTTPS any certificate is taken, and a Host is asked for by its name', async () => {
  const names: unknown[] = []
  const port = await serve((socket) => {
    names.push((socket as Socket & { servername?: string | false }).servername)
    socket.end('HTTP/1.1 200 OK\r\n\r\n')
  }, true)
  expect(await probe(port, { scheme: 'HTTPS' })).toBeNull()
  expect(await probe(port, { scheme: 'HTTPS', headers: [{ name: 'Host', value: 'app.example:8443' }] })).toBeNull()
  expect(names).toEqual([false, 'app.example'])
})

test('by HTTPS a program without TLS is told as such', async () => {
  const port = await serve((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  expect(await probe(port, { scheme: 'HTTPS' })).toMatch(/no TLS connection could be made \(ERR_SSL_/)
})

test.each(['HTTP', 'HTTPS'] as const)('by %s silence fails when the time is over', async (scheme) => {
  const port = await serve(() => undefined)
  expect(await probe(port, { scheme }, 0.05)).toBe(`GET /health on port ${port} did not answer within 0.05 s`)
})
