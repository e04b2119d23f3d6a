import fc from 'fast-check'
import { expect, test } from 'vitest'
import { statusOf } from '../../../src/worker/probe/statusLine.ts'

test.each([
  ['HTTP/1.1 200 OK\r\n', 200],
  ['HTTP/1.1 200\r\n', 200],
  ['HTTP/1.0 503 Service Unavailable\n', 503],
  ['HTTP/2 204\r\n', 204],
  ['http/1.1 200 ok\r\n', 200],
  ['HTTP/1.1  404 two blanks\r\n', 404],
  ['\r\n\nHTTP/1.1 200 OK\r\n', 200],
  ['HTTP/1.1 101 Switching Protocols\r\n', 101],
  ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n', 200],
  ['HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 102 Processing\n\nHTTP/1.1 500 No\n', 500],
  ['HTTP/1.1 099 odd\r\n', 99],
  ['HTTP/1.1 2000 OK\r\n', 'none'],
  ['SSH-2.0-OpenSSH_9.6\r\n', 'none'],
  ['<html>\n', 'none'],
  ['', null],
  ['HTTP/1.1 200 OK', null],
  ['HTTP/1.1 100 Continue\r\n\r\n', null],
  ['HTTP/1.1 100 Continue\r\nA: b\r\n', null],
])('%j has the status %j', (text, status) => {
  expect(statusOf(text)).toBe(status)
})

test('a part of an answer gives no status, or the one that the whole gives', () => {
  const header = fc
    .tuple(fc.constantFrom('A', 'X-Long'), fc.stringMatching(/^[ -~]{0,40}$/))
    .map((two) => two.join(': '))
  const answer = fc
    .tuple(
      fc.constantFrom('\r\n', '\n'),
      fc.constantFrom('100', '103'),
      fc.array(header),
      fc.integer({ min: 200, max: 599 }),
    )
    .map(([end, interim, headers, status]) => ({
      text: [`HTTP/1.1 ${interim} Wait`, ...headers, '', `HTTP/1.1 ${status} Done`, ...headers, '', ''].join(end),
      status,
    }))
  fc.assert(
    fc.property(answer, fc.nat(), ({ text, status }, cut) => {
      expect(statusOf(text)).toBe(status)
      expect([null, status]).toContain(statusOf(text.slice(0, cut % (text.length + 1))))
    }),
  )
})
