import { expect, test } from 'vitest'
import { refusedValue } from '../../../src/graphql/kit/refusedValue.ts'

const input = {
  replicas: -1,
  name: 'A b',
  ports: [{ name: 'http' }, { name: 'x', port: 0 }],
  env: [{ name: 'KEY', value: 'secret', secret: true }],
  expectedRevision: 7n,
  limit: { percent: 25 },
  rollout: { maxSurge: { count: 3 } },
  cause: '😀'.repeat(300),
}

test.each([
  [['replicas'], '-1'],
  [['name'], 'A b'],
  [['ports', '1'], '{"name":"x","port":0}'],
  [['ports', '1', 'port'], '0'],
  [['expectedRevision'], '7'],
  [['limit'], '25%'],
  [['rollout'], '{"maxSurge":3}'],
  [['missing'], null],
  [['ports', '7', 'name'], null],
  [['env', '0', 'name'], 'KEY'],
  [['env', '0', 'value'], null],
  [['env', '0'], null],
  [['env'], null],
  [[], null],
])('%j is shown as %s', (path, shown) => {
  expect(refusedValue({ input }, ['input', ...path])).toBe(shown)
})

test('long values are cut between characters', () => {
  expect(refusedValue({ input }, ['input', 'cause'])).toBe(`${'😀'.repeat(199)}…`)
})
