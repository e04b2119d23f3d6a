import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changedParts, keyFault, labelValueFault } from '../../src/model/metadata.ts'

// The syntax is that of Kubernetes: a name of 63 characters with an optional DNS name of 253 before it.
test.each(['app', 'A', 'a.b_c-D9', 'example.com/app', 'k8s.io/a.b', `${'a'.repeat(63)}`, `${'a'.repeat(253)}/x`])(
  'the key %s is taken',
  (key) => {
    expect(keyFault(key)).toBeNull()
  },
)

test.each([
  ['', '0 characters'],
  ['a'.repeat(64), '64 characters'],
  ['-a', 'no name of a label'],
  ['a-', 'no name of a label'],
  ['a b', 'no name of a label'],
  ['a/b/c', 'more than one "/"'],
  ['/a', 'no DNS name'],
  ['Example.com/a', 'no DNS name'],
  ['a..b/c', 'no DNS name'],
  [`${'a'.repeat(254)}/x`, 'no DNS name'],
  ['a/', '0 characters'],
  ['ä', 'no name of a label'],
])('the key %s is refused', (key, sentence) => {
  expect(keyFault(key)).toContain(sentence)
})

test.each(['', 'v1', 'a.b-c_D', 'x'.repeat(63)])('the value "%s" is taken', (value) => {
  expect(labelValueFault(value)).toBeNull()
})

test.each([
  ['-', 'no value'],
  ['a b', 'no value'],
  ['x'.repeat(64), '64 characters'],
  ['a\n', 'no value'],
])('the value "%s" is refused', (value, sentence) => {
  expect(labelValueFault(value)).toContain(sentence)
})

test('what a key or a value may be is what the pattern of Kubernetes takes', () => {
  const pattern = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
  const text = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '_', '.', ' ', '/'), maxLength: 6 })
  fc.assert(
    fc.property(text, (value) => {
      expect(labelValueFault(value) === null).toBe(pattern.test(value))
      if (!value.includes('/')) expect(keyFault(value) === null).toBe(value !== '' && pattern.test(value))
    }),
  )
})

test('only what differs is a change, in any order of keys', () => {
  const before = { labels: { a: '1', b: '2' }, annotations: {}, description: null }
  expect(changedParts(before, { labels: { b: '2', a: '1' }, description: null })).toEqual([])
  expect(changedParts(before, { labels: { a: '1' }, annotations: { x: '' }, description: '' })).toEqual([
    'labels',
    'annotations',
    'description',
  ])
})
