import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ContactFile } from '../../../src/worker/files/contactFile.ts'
import { LostContact } from '../../../src/worker/link/lostContact.ts'

let seconds = 100
const lost = vi.fn<() => void>()
const lines: string[] = []
let directory: string
let contact: LostContact
beforeEach(() => {
  vi.useFakeTimers()
  directory = mkdtempSync(path.join(tmpdir(), 'xce-contact-'))
  seconds = 100
  lost.mockClear()
  lines.length = 0
})
afterEach(() => {
  contact.close()
  vi.useRealTimers()
  rmSync(directory, { recursive: true })
})

/** As a worker does that starts on the state directory, whose servers have said nothing of lease and grace yet. */
function begin(patienceSeconds = 75): void {
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
  contact = new LostContact(new ContactFile(directory, log), patienceSeconds, lost, () => seconds)
}

/** Both clocks go on; a sleep of the machine moves the machine's only. */
function pass(by: number): void {
  seconds += by
  vi.advanceTimersByTime(by * 1_000)
}

test('a silence longer than lease and grace is told once', () => {
  begin()
  pass(74.5)
  expect(lost).not.toHaveBeenCalled()
  pass(0.5)
  expect(lost).toHaveBeenCalledTimes(1)
  pass(500)
  expect(lost).toHaveBeenCalledTimes(1)
})

test('counts from when the last renewal that was answered was sent, and by what the server says of lease and grace', () => {
  begin()
  pass(50)
  const sentAt = contact.mark()
  pass(5)
  contact.heard(sentAt, 10)
  pass(4.9)
  expect(lost).not.toHaveBeenCalled()
  pass(0.1)
  expect(lost).toHaveBeenCalledTimes(1)
  contact.heard(contact.mark())
  pass(10)
  expect(lost).toHaveBeenCalledTimes(2)
})

test('goes by the machine’s clock: time that it slept is silence too', () => {
  begin()
  seconds += 1_000
  vi.advanceTimersByTime(75_000)
  expect(lost).toHaveBeenCalledTimes(1)
})

test('an early timer waits for the rest', () => {
  begin()
  vi.advanceTimersByTime(75_000)
  expect(lost).not.toHaveBeenCalled()
  pass(75)
  expect(lost).toHaveBeenCalledTimes(1)
})

describe('a worker that starts again', () => {
  const file = () => path.join(directory, 'contact.json')
  const written = () => JSON.parse(readFileSync(file(), 'utf8'))

  test('goes on with the silence, and with the patience that the servers had asked for', () => {
    begin()
    contact.heard(contact.mark(), 40)
    pass(10)
    contact.close()
    seconds += 15
    begin()
    pass(14.5)
    expect(lost).not.toHaveBeenCalled()
    pass(0.5)
    expect(lost).toHaveBeenCalledTimes(1)
    // As ever, contact ends it.
    contact.heard(contact.mark())
    pass(39.5)
    expect(lost).toHaveBeenCalledTimes(1)
    pass(0.5)
    expect(lost).toHaveBeenCalledTimes(2)
  })

  test('when the silence has lasted for long enough, tells it after a few seconds to reach a server', () => {
    begin()
    contact.heard(contact.mark(), 40)
    contact.close()
    seconds += 40
    begin()
    pass(4.5)
    expect(lost).not.toHaveBeenCalled()
    pass(0.5)
    expect(lost).toHaveBeenCalledTimes(1)
  })

  test.each([
    ['the machine has started since', { bootId: 'another' }],
    ['the machine’s clock has begun anew', { lastSeconds: 1_000_000 }],
  ])('%s: the silence begins with the worker, the patience is the one that was asked for', (_what, change) => {
    begin()
    contact.heard(contact.mark(), 40)
    contact.close()
    writeFileSync(file(), JSON.stringify({ ...written(), ...change }))
    seconds += 1_000
    begin()
    pass(39.5)
    expect(lost).not.toHaveBeenCalled()
    pass(0.5)
    expect(lost).toHaveBeenCalledTimes(1)
  })

  test.each(['', 'not JSON', 'null', '{"patienceSeconds":"1","lastSeconds":1}'])(
    'takes a file with %j for none',
    (text) => {
      writeFileSync(file(), text)
      begin()
      pass(74.5)
      expect(lost).not.toHaveBeenCalled()
      pass(0.5)
      expect(lost).toHaveBeenCalledTimes(1)
    },
  )

  test('renewals write the disk every few seconds, oftener where lease and grace are short, and at once when they change', () => {
    begin()
    const said = (patienceSeconds?: number) => {
      contact.heard(contact.mark(), patienceSeconds)
      return [written().lastSeconds, written().patienceSeconds]
    }
    expect(said(75)).toEqual([100, 75])
    pass(2.9)
    expect(said()).toEqual([100, 75])
    pass(0.1)
    expect(said()).toEqual([103, 75])
    expect(said(2)).toEqual([103, 2])
    pass(0.5)
    expect(said()).toEqual([103.5, 2])
  })

  test('a disk that takes nothing ends no watching, is told once, and leaves nothing that has become wrong', () => {
    begin()
    contact.heard(contact.mark(), 40)
    mkdirSync(`${file()}.new`)
    for (let renewal = 0; renewal < 20; renewal++) {
      pass(5)
      contact.heard(contact.mark())
    }
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('the last contact could not be written')
    contact.close()
    // It was heard a moment ago, and not 100 s ago.
    begin()
    pass(74.5)
    expect(lost).not.toHaveBeenCalled()
    rmdirSync(`${file()}.new`)
    contact.heard(contact.mark())
    expect(written()).toMatchObject({ lastSeconds: seconds })
  })
})
