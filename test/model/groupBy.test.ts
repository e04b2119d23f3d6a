import { expect, test } from 'vitest'
import { addTo, groupBy } from '../../src/model/groupBy.ts'

test('items by their key, keys and items in the order given', () => {
  const groups = groupBy(['b1', 'a1', 'b2'], (item) => item.charAt(0))
  expect([...groups]).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ])
  addTo(groups, 'c', 'c1')
  addTo(groups, 'a', 'a2')
  expect(groups.get('c')).toEqual(['c1'])
  expect(groups.get('a')).toEqual(['a1', 'a2'])
})
