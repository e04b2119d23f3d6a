import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Content } from '../../../src/model/content.ts'
import { sameContent } from '../../../src/rules/version/content.ts'
import { fieldChanges } from '../../../src/rules/version/fieldChanges.ts'
import { content, settings } from '../../support/fixtures/services.ts'

const changes = (before: Partial<Content>, after: Partial<Content>) =>
  fieldChanges(
    { content: content(before), settings: settings() },
    { content: content(after), settings: settings() },
  ).map(({ field, before: was, after: is }) => [field, was, is])

const variable = (name: string, value: string, secret = false) => ({ name, value, secret })
const probe = { initialDelaySeconds: 0, periodSeconds: 5, timeoutSeconds: 1, failureThreshold: 3, successThreshold: 1 }

test('each field by its path, with what it was and is', () => {
  expect(changes({ cpuMillis: 100 }, { cpuMillis: 200 })).toEqual([['cpuMillis', '100', '200']])
  expect(changes({ command: ['a'] }, { command: ['a', 'b'] })).toEqual([['command', '["a"]', '["a","b"]']])
  expect(
    changes({ env: [variable('A', '1'), variable('B', '2')] }, { env: [variable('B', '3'), variable('C', '4')] }),
  ).toEqual([
    ['env.A', '1', null],
    ['env.B', '2', '3'],
    ['env.C', null, '4'],
  ])
  const [tcp, http] = [
    { action: { kind: 'tcp', port: 'http' }, ...probe } as const,
    { action: { kind: 'http', port: 'http', path: '/', scheme: 'HTTP', headers: [] }, ...probe } as const,
  ]
  expect(changes({ liveness: tcp }, { liveness: { ...http, periodSeconds: 9 } })).toEqual([
    ['liveness.tcp.port', 'http', null],
    ['liveness.periodSeconds', '5', '9'],
    ['liveness.http.port', null, 'http'],
    ['liveness.http.path', null, '/'],
    ['liveness.http.scheme', null, 'HTTP'],
    ['liveness.http.headers', null, '[]'],
  ])
  const limits = { maxSurge: { count: 2 } } as const
  expect(
    fieldChanges({ content: content(), settings: settings() }, { content: content(), settings: settings(limits) }),
  ).toEqual([{ field: 'serviceDefaults.rollout.maxSurge', before: '25%', after: '2' }])
})

test('a secret is told to have changed, and its value is not shown', () => {
  expect(changes({ env: [variable('K', 'old', true)] }, { env: [variable('K', 'new', true)] })).toEqual([
    ['env.K', '(secret)', '(secret)'],
  ])
})

test('long values are cut', () => {
  const [[, , after]] = changes({ env: [] }, { env: [variable('A', 'x'.repeat(999))] }) as [[string, null, string]]
  expect(after).toBe(`${'x'.repeat(199)}…`)
})

test('there are changes exactly where contents differ', () => {
  const env = fc.uniqueArray(
    fc.record({ name: fc.constantFrom('A', 'B'), value: fc.constantFrom('', '1'), secret: fc.boolean() }),
    { selector: ({ name }) => name },
  )
  const some = fc.record({
    env,
    cpuMillis: fc.constantFrom(1, 2),
    workingDirectory: fc.constantFrom(null, '/a'),
    ports: fc.constantFrom([], [{ name: 'http', port: null, protocol: 'TCP' as const }]),
  })
  fc.assert(
    fc.property(some, some, (before, after) => {
      expect(changes(before, after).length === 0).toBe(sameContent(content(before), content(after)))
    }),
  )
})
