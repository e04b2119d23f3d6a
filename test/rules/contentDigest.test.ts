import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Content } from '../../src/model/content.ts'
import { sameContent } from '../../src/rules/content.ts'
import { contentDigest } from '../../src/rules/contentDigest.ts'
import { content } from '../support/services.ts'

const variable = fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: fc.constantFrom('1', '2'), secret: fc.boolean() })
const port = fc.record({
  name: fc.constantFrom('http', 'admin'),
  port: fc.constantFrom(null, 80),
  protocol: fc.constantFrom('TCP' as const, 'UDP' as const),
})
const some = fc
  .record({
    command: fc.constantFrom(['a'], ['a', 'b'], ['ab']),
    env: fc.uniqueArray(variable, { selector: ({ name }) => name }),
    ports: fc.uniqueArray(port, { selector: ({ name }) => name }),
    workingDirectory: fc.constantFrom(null, '/'),
    liveness: fc.constantFrom(null, content().readiness),
    cpuMillis: fc.constantFrom(1, 2),
  })
  .map((over) => content(over))

const reversed = (a: Content): [Content, Content] => [a, { ...a, env: [...a.env].reverse(), ports: [...a.ports].reverse() }]

test('two digests are equal where the contents are, and only there', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.tuple(some, some), some.map(reversed)),
      ([a, b]) => (contentDigest(a) === contentDigest(b)) === sameContent(a, b),
    ),
    { numRuns: 3_000 },
  )
})

test('the order of keys, variables and ports means nothing', () => {
  const a = content({
    env: [
      { name: 'A', value: '1', secret: false },
      { name: 'B', value: '2', secret: false },
    ],
  })
  const b = { ...Object.fromEntries(Object.entries(a).reverse()), env: [...a.env].reverse() } as unknown as typeof a
  expect(contentDigest(b)).toBe(contentDigest(a))
  expect(contentDigest({ ...a, cpuMillis: 101 })).not.toBe(contentDigest(a))
})
