import { expect, test } from 'vitest'
import { canonicalJson } from '../../src/model/canonicalJson.ts'

test('one text for a value, however it was written down', () => {
  const written = { b: [1, null, { y: 'ü"', x: true }], B: 2n, a: undefined, '': {} }
  expect(canonicalJson(written)).toBe('{"":{},"B":"2","b":[1,null,{"x":true,"y":"ü\\""}]}')
  expect(canonicalJson(Object.assign(Object.create(null), Object.fromEntries(Object.entries(written).reverse())))).toBe(
    canonicalJson(written),
  )
  expect(canonicalJson([undefined])).toBe('[null]')
})
