import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventQueue } from '../../src/simulation/eventQueue.ts'

test('events come in the order of their instants, and of one instant in the order they were put in', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (instants) => {
      const queue = new EventQueue<number>()
      instants.forEach((at, order) => {
        queue.put(at, order)
      })
      const taken: number[] = []
      while (queue.nextAt !== null) {
        const now = queue.nextAt
        expect(queue.takeDue(now - 1)).toBeUndefined()
        expect(queue.peekDue(now)).toBe(queue.peekDue(now))
        taken.push(queue.takeDue(now) ?? -1)
      }
      const expected = instants
        .map((_, order) => order)
        .sort((a, b) => (instants[a] ?? 0) - (instants[b] ?? 0) || a - b)
      expect(taken).toEqual(expected)
      expect(queue.size).toBe(0)
    }),
  )
})

test('what is put in between keeps the order', () => {
  const queue = new EventQueue<string>()
  queue.put(5, 'late')
  queue.put(1, 'early')
  expect(queue.takeDue(1)).toBe('early')
  queue.put(3, 'between')
  expect([queue.takeDue(9), queue.takeDue(9), queue.takeDue(9)]).toEqual(['between', 'late', undefined])
})
