import { expect, test } from 'vitest'
import type { FactRetention } from '../../../src/model/retention.ts'
import { nextFloor } from '../../../src/rules/retention/factFloor.ts'

const retention: FactRetention = { kept: 100_000, keptSeconds: 3_600, mostKept: 1_000_000 }
const now = 1_000_000_000
const hour = 3_600_000

/** Samples every 10,000 facts of a log whose facts were committed at an even rate, the last one now. */
function samples(floor: number, head: number, millisPerFact: number) {
  const places = []
  for (let revision = floor + 10_000; revision <= head; revision += 10_000) {
    places.push({ revision: BigInt(revision), at: now - (head - revision) * millisPerFact })
  }
  return places
}

test.each([
  ['few facts, however old', { floor: 0, head: 90_000, millisPerFact: 1_000 }, 0],
  ['exactly as many as are kept', { floor: 0, head: 100_000, millisPerFact: 1_000 }, 0],
  ['old facts above what is kept', { floor: 0, head: 150_000, millisPerFact: 1_000 }, 50_000],
  ['young facts stay: 300,000 within an hour', { floor: 0, head: 300_000, millisPerFact: 10 }, 0],
  ['between: the hour has 180,000', { floor: 0, head: 300_000, millisPerFact: 20 }, 110_000],
  ['the ceiling is stronger than the hour', { floor: 0, head: 2_000_000, millisPerFact: 1 }, 1_000_000],
  ['exactly the ceiling', { floor: 0, head: 1_000_000, millisPerFact: 1 }, 0],
  ['one above the ceiling', { floor: 0, head: 1_000_001, millisPerFact: 1 }, 1],
  ['after a floor that was moved before', { floor: 500_000, head: 700_000, millisPerFact: 1_000 }, 600_000],
  ['never down, with a retention that was raised', { floor: 690_000, head: 700_000, millisPerFact: 1_000 }, 690_000],
  ['an empty log', { floor: 700_000, head: 700_000, millisPerFact: 1 }, 700_000],
])('%s', (_name, { floor, head, millisPerFact }, expected) => {
  const log = { floor: BigInt(floor), head: BigInt(head), samples: samples(floor, head, millisPerFact) }
  expect(nextFloor(log, retention, now)).toBe(BigInt(expected))
})

test('a fact of exactly the age stays; one that is older by a millisecond goes', () => {
  const at = (age: number) =>
    nextFloor({ floor: 0n, head: 200_000n, samples: [{ revision: 100_000n, at: now - age }] }, retention, now)
  expect(at(hour)).toBe(0n)
  expect(at(hour + 1)).toBe(100_000n)
})

test('samples in any order give the same floor', () => {
  const log = { floor: 0n, head: 150_000n, samples: samples(0, 150_000, 1_000) }
  expect(nextFloor({ ...log, samples: log.samples.toReversed() }, retention, now)).toBe(nextFloor(log, retention, now))
})
