import { expect, test } from 'vitest'
import type { Blocker } from '../../../src/model/blocker.ts'
import type { ReplicaId } from '../../../src/model/id.ts'
import { BlockerNews } from '../../../src/rules/placement/blockerNews.ts'

const hold = (replica: string, message: string, reason: Blocker['reason'] = 'NO_CAPACITY', since = 0) => ({
  replica: replica as ReplicaId,
  blocker: { reason, message, count: 1, since, until: null, replica: null },
})

test('what waits is told only what is new to it, whenever it is said', () => {
  const news = new BlockerNews()
  const [a, b] = [hold('a', 'full'), hold('b', 'full')]
  expect(news.of([a, b])).toEqual([a, b])
  expect(news.of([hold('a', 'full', 'NO_CAPACITY', 9), b])).toEqual([])
  const other = [hold('a', 'fuller'), hold('b', 'full', 'QUOTA')]
  expect(news.of(other)).toEqual(other)
})

test('what did not wait in between is told again, and so is everything after somebody else may have spoken', () => {
  const news = new BlockerNews()
  const [a, b] = [hold('a', 'full'), hold('b', 'full')]
  news.of([a, b])
  expect(news.of([a])).toEqual([])
  expect(news.of([a, b])).toEqual([b])
  news.forget()
  expect(news.of([a, b])).toEqual([a, b])
})
