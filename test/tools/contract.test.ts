import { expect, test } from 'vitest'
import { breachesOfContract } from '../../src/tools/contract.ts'

const contract = `
  type Query { service(name: String!, first: Int = 20): Service, host: Host }
  type Service { name: String, replicas: Int! }
  type Host { name: String! }
  enum Status { HEALTHY STOPPED }
  union Result = Service | Host
  input Choice @oneOf { count: Int percent: Int }
  input Key { project: String! name: String! owner: String }
`

const change = (from: string, to: string) => {
  if (!contract.includes(from)) throw new Error(`The contract has no ${from}`)
  return breachesOfContract(contract, contract.replace(from, to), [])
}

test('the contract itself keeps to it', async () => {
  expect(await breachesOfContract(contract, contract, [])).toEqual([])
})

test.each([
  ['a stricter output', 'type Service { name: String,', 'type Service { name: String!,'],
  ['a looser input', 'project: String!', 'project: String'],
  ['a looser argument', 'service(name: String!', 'service(name: String'],
  ['another field', 'type Host {', 'type Host { id: ID!'],
  ['another optional argument', 'first: Int = 20', 'first: Int = 20, last: Int'],
  ['another value', 'HEALTHY', 'HEALTHY PAUSED'],
  ['another member', '= Service', '= Query | Service'],
])('%s is no breach', async (_what, from, to) => {
  expect(await change(from, to)).toEqual([])
})

test.each([
  ['a looser output', 'replicas: Int!', 'replicas: Int'],
  ['a stricter input', 'owner: String', 'owner: String!'],
  ['another type', 'replicas: Int!', 'replicas: String!'],
  ['another default', 'first: Int = 20', 'first: Int = 10'],
  ['another argument that is required', 'first: Int = 20', 'first: Int = 20, project: String!'],
  ['an argument that is missing', ', first: Int = 20', ''],
  ['a field that is missing', ', host: Host', ''],
  ['a value that is missing', ' STOPPED', ''],
  ['a member that is missing', ' | Host', ''],
  ['an input that is no choice any longer', ' @oneOf', ''],
  ['an input that becomes a choice', 'input Key {', 'input Key @oneOf {'],
])('%s is a breach', async (_what, from, to) => {
  expect((await change(from, to)).length).toBeGreaterThan(0)
})

test('what is listed as unbuilt may be missing, and must be', async () => {
  const unbuilt = [{ reason: 'Later.', paths: ['Query.host'] }]
  expect(await breachesOfContract(contract, contract.replace(', host: Host', ''), unbuilt)).toEqual([])
  expect(await breachesOfContract(contract, contract, unbuilt)).toEqual([
    'Query.host is built: remove it from the list of unbuilt parts.',
  ])
})
