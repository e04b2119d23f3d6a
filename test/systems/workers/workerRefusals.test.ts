import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { WorkerRefusals } from '../../../src/systems/workers/workerRefusals.ts'

let now = 0
let told: string[] = []
let refusals: WorkerRefusals
beforeEach(() => {
  now = 0
  told = []
  const log = pino({ base: null, timestamp: false, level: 'warn' }, { write: (line) => void told.push(line.trim()) })
  refusals = new WorkerRefusals(log, () => now)
})

test('a worker that tries for ever is told once in ten minutes, and at once when it is refused for another reason', () => {
  for (; now < 1_200_000; now += 5_000) refusals.tell({ worker: 'a' }, 'Its name is taken.')
  const line = '{"level":40,"worker":"a","msg":"A worker is refused. Its name is taken."}'
  expect(told).toEqual([line, line])
  refusals.tell({ worker: 'a' }, 'It is too old.')
  refusals.tell({ worker: 'b' }, 'It is too old.')
  expect(told).toHaveLength(4)
})

test('an instant in the reason, which is another one at every try, does not make it another reason', () => {
  for (; now < 600_000; now += 5_000)
    refusals.tell({ worker: 'a' }, `It may come at ${new Date(now).toISOString()}, or never.`)
  expect(told).toHaveLength(1)
})

test('names that somebody makes up fill neither the log nor the memory, and others are told again later', () => {
  for (let name = 0; name < 5_000; name++) refusals.tell({ worker: `made-up-${name}` }, 'No.')
  expect(told).toHaveLength(1_000)
  now += 600_000
  refusals.tell({ worker: 'a' }, 'No.')
  expect(told).toHaveLength(1_001)
})
