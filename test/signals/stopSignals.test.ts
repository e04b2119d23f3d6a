import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onStopSignals } from '../../src/signals/stopSignals.ts'

// Signals that do nothing by themselves, and that nobody else listens to.
const signals = ['SIGWINCH', 'SIGURG'] as const

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
  for (const signal of signals) process.removeAllListeners(signal)
})

test('a signal that comes twice within a second is one signal, and another one later is the second', () => {
  const heard: string[] = []
  onStopSignals(signals, {
    first: (signal) => heard.push(`first ${signal}`),
    again: (signal) => heard.push(`again ${signal}`),
  })
  const after = (millis: number, signal: NodeJS.Signals) => {
    vi.advanceTimersByTime(millis)
    process.emit(signal, signal)
  }
  after(0, 'SIGWINCH')
  after(2, 'SIGWINCH')
  after(0, 'SIGURG')
  after(996, 'SIGURG')
  expect(heard).toEqual(['first SIGWINCH'])
  after(2, 'SIGURG')
  after(1, 'SIGWINCH')
  expect(heard).toEqual(['first SIGWINCH', 'again SIGURG', 'again SIGWINCH'])
})
