import { expect, test } from 'vitest'
import { StreamOperations } from '../../src/http/streamOperations.ts'

const next = (number: number | null) => `event: next\ndata: {"id":"${number}","payload":{"data":1}}\n\n`
const complete = (number: number | null) => `event: complete\ndata: {"id":"${number}"}\n\n`

test('an operation that was ended but runs on says nothing to the client, and does not end the next one of its id', () => {
  const operations = new StreamOperations()
  const old = operations.begin('a')
  expect(operations.end('a')).toBe(old)
  const current = operations.begin('a')
  expect(current).not.toBe(old)
  expect([operations.rename(next(old)), operations.rename(complete(old))]).toEqual([null, null])
  expect(operations.rename(next(current))).toBe('event: next\ndata: {"id":"a","payload":{"data":1}}\n\n')
  expect(operations.rename(complete(current))).toBe('event: complete\ndata: {"id":"a"}\n\n')
  expect(operations.begin('a')).not.toBe(null)
})

test('an id is taken until its operation has ended, whatever the client calls it', () => {
  const operations = new StreamOperations()
  for (const id of ['', '1', '1.a', '"', '\\', '__proto__', '\n', '\ud800']) {
    const number = operations.begin(id)
    expect(number).not.toBe(null)
    expect(operations.begin(id)).toBe(null)
    const event = operations.rename(complete(number)) ?? ''
    expect(JSON.parse(event.slice(event.indexOf('{')))).toEqual({ id })
    expect(operations.end(id)).toBe(null)
  }
})

test('a comment passes', () => {
  expect(new StreamOperations().rename(':\n\n')).toBe(':\n\n')
})
