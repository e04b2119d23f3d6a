import type { GraphQLInputType } from 'graphql'
import { expect, test } from 'vitest'
import { inputIssues, noneLeft, type PartOf } from '../../../src/graphql/kit/check.ts'
import { schema } from '../../../src/graphql/schema.ts'

const issues = (type: string, value: unknown) =>
  inputIssues(schema.getType(type) as GraphQLInputType, value, ['input']).map(({ path, message }) => [
    path.join('.'),
    message,
  ])

test('every fault of an input is found at its field, however deep, and then what is wrong between fields', () => {
  expect(
    issues('ApplyProfileInput', {
      name: 'web',
      command: ['serve', 'a\0'],
      env: [
        { name: 'A', value: '1' },
        { name: '=', value: null },
        { name: 'A', value: '2' },
      ],
      readiness: { tcp: { port: 'db' }, exec: { command: [] }, periodSeconds: 0 },
      idempotencyKey: '',
    }),
  ).toEqual([
    ['input.command.1', 'The word "a\\u0000" contains the character NUL: it may contain any other.'],
    ['input.env.1.name', expect.stringContaining('"=" is no name of a variable')],
    ['input.env.2.name', 'The variable "A" is given twice, first at position 0: give it once.'],
    [
      'input.env.1.value',
      expect.stringContaining('The variable "=" has no value: give one, or leave the variable out.'),
    ],
    ['input.readiness.exec.command', 'The command is empty: give the program and its arguments.'],
    ['input.readiness.periodSeconds', '0 is out of range: the seconds between two probes are 1 to 3600.'],
    ['input.readiness', 'The probe has tcp and exec of http, tcp and exec: give exactly one.'],
    ['input.idempotencyKey', 'The key has 0 characters: give 1 to 128.'],
    ['input.readiness.tcp.port', 'The port "db" is not declared: declared are none.'],
  ])
})

test('what is null or left out is not judged', () => {
  expect(issues('UpdateServiceInput', { service: { name: 'a' }, replicas: null, rollout: null, env: null })).toEqual([])
  expect(issues('UpdateServiceInput', { service: { name: 'a' } })).toEqual([])
})

test('a declared field that nobody takes does not compile', () => {
  const input: { readonly name: string; readonly port?: number | null } = { name: 'a' }
  const { name, ...rest } = input
  // @ts-expect-error the field port was not taken
  noneLeft(rest)
  const { port, ...none } = rest
  noneLeft(none)
  // @ts-expect-error the model has no port
  const part: PartOf<{ readonly name: string }, typeof input> = input
  expect([name, port, part]).toEqual(['a', undefined, input])
})
