import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Content } from '../../../src/model/content.ts'
import { sameContent } from '../../../src/rules/version/content.ts'
import { contentDigest } from '../../../src/rules/version/contentDigest.ts'
import { content } from '../../support/fixtures/services.ts'

const variable = fc.record({
  name: fc.constantFrom('A', 'B', 'C'),
  value: fc.constantFrom('1', '2'),
  secret: fc.boolean(),
})
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
    startup: fc.constantFrom(null, content().readiness),
    liveness: fc.constantFrom(null, content().readiness),
    cpuMillis: fc.constantFrom(1, 2),
  })
  .map((over) => content(over))

const reversed = (a: Content): [Content, Content] => [
  a,
  { ...a, env: [...a.env].reverse(), ports: [...a.ports].reverse() },
]

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

test('digests that are stored stay those of their contents', () => {
  const stored: Content = {
    command: ['serve', '--näme', 'a"b\\c'],
    env: [
      { name: 'B', value: '2', secret: true },
      { name: 'A', value: '', secret: false },
    ],
    workingDirectory: null,
    ports: [
      { name: 'http', port: null, protocol: 'TCP' },
      { name: 'admin', port: 8080, protocol: 'UDP' },
    ],
    cpuMillis: 100,
    memoryMiB: 128,
    startup: null,
    readiness: {
      action: { kind: 'http', port: 'http', path: '/', scheme: 'HTTP', headers: [] },
      initialDelaySeconds: 0,
      periodSeconds: 10,
      timeoutSeconds: 1,
      failureThreshold: 3,
      successThreshold: 1,
    },
    liveness: null,
    restart: { mode: 'ALWAYS', maxAttempts: 3, windowSeconds: 600, delaySeconds: 1 },
    stop: { signal: 'TERM', drainSeconds: 3, graceSeconds: 10, onLostContact: 'KEEP' },
  }
  expect(contentDigest(stored)).toBe('7745d6eb28769949de56e07eec65314430da43e2b0c307f8c1bd624580f88fbf')
})
