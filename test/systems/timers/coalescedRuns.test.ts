import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CoalescedRuns } from '../../../src/systems/timers/coalescedRuns.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Runs that end when they are told to. */
function scene() {
  const told: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void told.push(JSON.parse(line).msg) })
  const open: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  let begun = 0
  const runs = new CoalescedRuns({
    run: () => {
      begun++
      return new Promise<void>((resolve, reject) => {
        open.push({ resolve, reject })
      })
    },
    log,
    failure: 'It failed',
    againAfterMillis: (failures) => 100 * 2 ** failures,
  })
  const settled = () => vi.advanceTimersByTimeAsync(0)
  return {
    runs,
    told,
    begun: () => begun,
    end: () => {
      open.shift()?.resolve()
      return settled()
    },
    fail: () => {
      open.shift()?.reject(new Error('no'))
      return settled()
    },
  }
}

test('one run at a time; what wakes it meanwhile, however often, makes one more', async () => {
  const { runs, begun, end } = scene()
  runs.wake()
  expect(begun()).toBe(1)
  for (let count = 0; count < 5; count++) runs.wake()
  expect(begun()).toBe(1)
  await end()
  expect(begun()).toBe(2)
  await end()
  expect(begun()).toBe(2)
  runs.wake()
  expect(begun()).toBe(3)
  await end()
})

test('a run that fails is told, and tried again, later each time until one succeeds', async () => {
  const { runs, begun, end, fail, told } = scene()
  runs.wake()
  await fail()
  expect(told).toEqual(['It failed: trying again.'])
  await vi.advanceTimersByTimeAsync(99)
  expect(begun()).toBe(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(begun()).toBe(2)
  await fail()
  await vi.advanceTimersByTimeAsync(199)
  expect(begun()).toBe(2)
  await vi.advanceTimersByTimeAsync(1)
  await end()
  runs.wake()
  await fail()
  await vi.advanceTimersByTimeAsync(100)
  expect(begun()).toBe(5)
  await end()
})

test('of what wakes it later the earliest counts', async () => {
  const { runs, begun, end } = scene()
  runs.wakeWithin(500)
  runs.wakeWithin(100)
  runs.wakeWithin(900)
  await vi.advanceTimersByTimeAsync(99)
  expect(begun()).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(begun()).toBe(1)
  await end()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(begun()).toBe(1)
})

test('stopped, it waits for the run that is under way, and there is no other', async () => {
  const { runs, begun, end } = scene()
  runs.wake()
  runs.wake()
  runs.wakeWithin(10)
  const order: string[] = []
  const stopping = runs.stop().then(() => order.push('stopped'))
  await vi.advanceTimersByTimeAsync(100)
  expect(order).toEqual([])
  await end()
  await stopping
  runs.wake()
  runs.wakeWithin(0)
  await vi.advanceTimersByTimeAsync(100)
  expect(begun()).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('stopped in a run that fails, it does not try again', async () => {
  const { runs, begun, fail } = scene()
  runs.wake()
  const stopping = runs.stop()
  await fail()
  await stopping
  expect(begun()).toBe(1)
  expect(vi.getTimerCount()).toBe(0)
})
