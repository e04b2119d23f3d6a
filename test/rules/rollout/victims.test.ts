import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReplicaId } from '../../../src/model/id.ts'
import { compareVictims, firstOf, type Victim } from '../../../src/rules/rollout/victims.ts'

const victim = (id: string, change: Partial<Victim>): Victim => ({
  id: id as ReplicaId,
  index: 0,
  state: 'RUNNING',
  ready: false,
  available: false,
  createdAt: 0,
  ...change,
})

test('R11: by what is lost, then the newest, then the highest index, then the id', () => {
  const order = [
    victim('pending, newer', { state: 'PENDING', createdAt: 2 }),
    victim('pending, older, index 5', { state: 'PENDING', createdAt: 1, index: 5 }),
    victim('pending, older, index 4', { state: 'PENDING', createdAt: 1, index: 4 }),
    victim('starting', { state: 'STARTING', createdAt: 0 }),
    victim('running, not ready', { createdAt: 9 }),
    victim('ready, newer', { ready: true, createdAt: 9 }),
    victim('ready, older', { ready: true, createdAt: 8, index: 9 }),
    victim('available, newer', { ready: true, available: true, createdAt: 9 }),
    victim('available, older, id a', { ready: true, available: true, createdAt: 3 }),
    victim('available, older, id b', { ready: true, available: true, createdAt: 3 }),
  ]
  expect([...order].reverse().sort(compareVictims)).toEqual(order)
})

const anyVictim = fc.record({
  id: fc.nat(20).map((id) => `r${id}` as ReplicaId),
  index: fc.nat(2),
  state: fc.constantFrom('PENDING' as const, 'STARTING' as const, 'RUNNING' as const),
  ready: fc.boolean(),
  available: fc.boolean(),
  createdAt: fc.nat(2),
})

test('R11 is a total order: different replicas are never equal', () => {
  fc.assert(
    fc.property(anyVictim, anyVictim, anyVictim, (a, b, c) => {
      expect(Math.sign(compareVictims(a, b)) + Math.sign(compareVictims(b, a))).toBe(0)
      if (a.id !== b.id) expect(compareVictims(a, b)).not.toBe(0)
      if (compareVictims(a, b) < 0 && compareVictims(b, c) < 0) expect(compareVictims(a, c)).toBeLessThan(0)
    }),
    { numRuns: 2_000 },
  )
})

test('the first few of many are those that a sort of all gives', () => {
  const numbers = fc.array(fc.nat(1_000), { maxLength: 200, size: 'max' })
  fc.assert(
    fc.property(numbers, fc.nat(30), (items, count) => {
      const before = [...items]
      expect(firstOf(items, count, (a, b) => a - b)).toEqual([...items].sort((a, b) => a - b).slice(0, count))
      expect(items).toEqual(before)
    }),
    { numRuns: 1_000 },
  )
})
