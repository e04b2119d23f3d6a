import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LostContact } from '../../src/worker/lostContact.ts'

let seconds = 100
const lost = vi.fn<() => void>()
let contact: LostContact
beforeEach(() => {
  vi.useFakeTimers()
  seconds = 100
  lost.mockClear()
})
afterEach(() => {
  contact.close()
  vi.useRealTimers()
})

/** Both clocks go on; a sleep of the machine moves the machine's only. */
function pass(by: number): void {
  seconds += by
  vi.advanceTimersByTime(by * 1_000)
}

test('a silence longer than lease and grace is told once', () => {
  contact = new LostContact(75, lost, () => seconds)
  pass(74.5)
  expect(lost).not.toHaveBeenCalled()
  pass(0.5)
  expect(lost).toHaveBeenCalledTimes(1)
  pass(500)
  expect(lost).toHaveBeenCalledTimes(1)
})

test('counts from when the last renewal that was answered was sent, and by what the server says of lease and grace', () => {
  contact = new LostContact(75, lost, () => seconds)
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
  contact = new LostContact(75, lost, () => seconds)
  seconds += 1_000
  vi.advanceTimersByTime(75_000)
  expect(lost).toHaveBeenCalledTimes(1)
})

test('an early timer waits for the rest', () => {
  contact = new LostContact(75, lost, () => seconds)
  vi.advanceTimersByTime(75_000)
  expect(lost).not.toHaveBeenCalled()
  pass(75)
  expect(lost).toHaveBeenCalledTimes(1)
})
