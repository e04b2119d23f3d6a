import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DatabaseAlarm } from '../../../src/systems/timers/databaseAlarm.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const day = 86_400_000

/** A clock that is set by hand, beside the time that passes. */
function scene() {
  let ahead = 0
  const listeners = new Set<() => void>()
  const now = () => performance.now() + ahead
  const listen = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const clock = { now, onStep: listen }
  const woken: number[] = []
  const wakeUp = new DatabaseAlarm(clock, () => woken.push(now()))
  const begin = now()
  return {
    wakeUp,
    at: (millis: number) => begin + millis,
    woken: () => woken.map((at) => Math.round(at - begin)),
    step: (millis: number) => {
      ahead += millis
      for (const listener of listeners) listener()
    },
    listeners,
  }
}

test('wakes once, at the earliest instant it was armed for', async () => {
  const { wakeUp, at, woken } = scene()
  wakeUp.arm(at(500))
  wakeUp.arm(at(100))
  wakeUp.arm(at(300))
  await vi.advanceTimersByTimeAsync(1_000)
  expect(woken()).toEqual([100])
  wakeUp.arm(at(200))
  await vi.advanceTimersByTimeAsync(0)
  expect(woken()).toEqual([100, 1_000])
})

test('what is set takes the place of what it was armed for', async () => {
  const { wakeUp, at, woken } = scene()
  wakeUp.arm(at(100))
  wakeUp.set(at(300))
  await vi.advanceTimersByTimeAsync(1_000)
  wakeUp.arm(at(2_000))
  wakeUp.set(null)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(woken()).toEqual([300])
})

test.each([
  ['forwards', 400, 100],
  ['backwards', -400, 900],
])('a clock that is set %s wakes it when it shows the instant', async (_what, step, after) => {
  const { wakeUp, at, woken, step: set } = scene()
  wakeUp.arm(at(500))
  set(step)
  await vi.advanceTimersByTimeAsync(after - 1)
  expect(woken()).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(woken()).toEqual([500])
})

test('a wait that is longer than a time-out can be is cut: it wakes early, and may be armed again', async () => {
  const { wakeUp, at, woken } = scene()
  wakeUp.arm(at(40 * day))
  await vi.advanceTimersByTimeAsync(day)
  expect(woken()).toEqual([day])
})

test('stopped, it wakes nobody, and has left the clock', async () => {
  const { wakeUp, at, woken, listeners } = scene()
  wakeUp.arm(at(100))
  wakeUp.stop()
  wakeUp.arm(at(50))
  await vi.advanceTimersByTimeAsync(1_000)
  expect({ woken: woken(), listeners: listeners.size, timers: vi.getTimerCount() }).toEqual({
    woken: [],
    listeners: 0,
    timers: 0,
  })
})
