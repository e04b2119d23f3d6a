import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EnvironmentVariable, GivenVariable } from '../../../src/model/content.ts'
import { changedEnvironment, hiddenIssues, withKeptSecrets } from '../../../src/rules/version/environment.ts'

const plain = (name: string, value: string): EnvironmentVariable => ({ name, value, secret: false })
const secret = (name: string, value: string): EnvironmentVariable => ({ name, value, secret: true })
/** A variable as the API shows it. */
const shown = ({ name, value, secret }: EnvironmentVariable): GivenVariable => ({
  name,
  value: secret ? null : value,
  secret,
})

describe('a variable without a value', () => {
  const stored = [plain('A', '1'), secret('KEY', 'old')]

  test('keeps the secret of its name', () => {
    const given = [shown(secret('KEY', 'old')), plain('A', '2')]
    expect(withKeptSecrets(given, stored)).toEqual({ variables: [secret('KEY', 'old'), plain('A', '2')], issues: [] })
  })

  test.each(['A', 'NEW'])('is refused where there is no such secret: %s', (name) => {
    const { issues } = withKeptSecrets([plain('B', ''), { name, value: null, secret: true }], stored)
    expect(issues).toEqual([
      { path: ['1', 'value'], message: expect.stringContaining(`"${name}" has no value, and there is no secret`) },
    ])
  })

  test('a new value replaces a secret, also by a variable that everybody may read', () => {
    expect(withKeptSecrets([plain('KEY', 'new')], stored).variables).toEqual([plain('KEY', 'new')])
  })
})

describe('a change of a service’s own part', () => {
  const profile = [plain('A', '1'), plain('B', '2')]
  const before = { env: [plain('B', 'own'), plain('C', '3')], unsetEnv: ['A'] }

  test.each([
    ['nothing', {}, before],
    [
      'setEnv',
      { setEnv: [plain('C', '4'), plain('D', '5')] },
      { env: [plain('B', 'own'), plain('C', '4'), plain('D', '5')], unsetEnv: ['A'] },
    ],
    [
      'setEnv of a hidden one shows it',
      { setEnv: [plain('A', 'x')] },
      { env: [...before.env, plain('A', 'x')], unsetEnv: [] },
    ],
    ['unsetEnv of an own one', { unsetEnv: ['C'] }, { env: [plain('B', 'own')], unsetEnv: ['A'] }],
    ['unsetEnv of one that both have', { unsetEnv: ['B'] }, { env: [plain('C', '3')], unsetEnv: ['A', 'B'] }],
    ['unsetEnv of one that nobody has', { unsetEnv: ['X'] }, before],
    ['env alone keeps what is hidden', { env: [plain('D', '1')] }, { env: [plain('D', '1')], unsetEnv: ['A'] }],
    ['env that names a hidden one shows it', { env: [plain('A', '0')] }, { env: [plain('A', '0')], unsetEnv: [] }],
    ['env and unsetEnv are the whole part', { env: [], unsetEnv: ['B'] }, { env: [], unsetEnv: ['B'] }],
    ['env null goes back to the profile', { env: null }, { env: [], unsetEnv: [] }],
  ])('%s', (_what, change, after) => {
    expect(changedEnvironment(before, profile, change)).toEqual(after)
  })

  test('what is hidden has a bound', () => {
    const names = Array.from({ length: 257 }, (_, at) => `V${at}`)
    expect(hiddenIssues({ env: [], unsetEnv: names.slice(1) })).toEqual([])
    expect(hiddenIssues({ env: [], unsetEnv: names })).toEqual([
      { path: [], message: expect.stringContaining('257 hidden variables: at most 256') },
    ])
  })
})

const name = fc.constantFrom('A', 'B', 'C', 'D', 'spring.config')
const variables = fc.uniqueArray(fc.record({ name, value: fc.string({ maxLength: 3 }), secret: fc.boolean() }), {
  selector: (variable) => variable.name,
})
const ownPart = fc
  .record({ env: variables, unset: fc.uniqueArray(name) })
  .map(({ env, unset }) => ({ env, unsetEnv: unset.filter((each) => !env.some(({ name }) => name === each)) }))

test('an own part that was read and is sent back, with or without its hidden names, changes nothing', () => {
  fc.assert(
    fc.property(variables, ownPart, fc.boolean(), (profile, own, withHidden) => {
      const { variables: env, issues } = withKeptSecrets(own.env.map(shown), own.env)
      expect(issues).toEqual([])
      const change = withHidden ? { env, unsetEnv: own.unsetEnv } : { env }
      expect(changedEnvironment(own, profile, change)).toEqual(own)
    }),
  )
})

test('no variable is both own and hidden, whatever changes', () => {
  const change = fc.record(
    { env: fc.option(variables, { nil: null }), setEnv: variables, unsetEnv: fc.uniqueArray(name) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(variables, ownPart, change, (profile, own, given) => {
      const after = changedEnvironment(own, profile, given)
      const names = after.env.map((variable) => variable.name)
      expect(new Set(names).size).toBe(names.length)
      expect(after.unsetEnv.filter((hidden) => names.includes(hidden))).toEqual([])
    }),
  )
})
