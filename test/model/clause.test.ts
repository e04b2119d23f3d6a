import { expect, test } from 'vitest'
import { clauseOf } from '../../src/model/clause.ts'

test.each([
  ['The process exited with code 1.', 'the process exited with code 1'],
  ['A port is taken. ', 'a port is taken'],
  ['GET /health answered 503', 'GET /health answered 503'],
  ['"serve" was not found in PATH.', '"serve" was not found in PATH'],
  ['XCE', 'XCE'],
  ['', ''],
])('%j becomes %j within a sentence', (sentence, clause) => {
  expect(clauseOf(sentence)).toBe(clause)
})

test('a long one is cut, and not within a character', () => {
  expect(clauseOf('x'.repeat(301))).toBe(`${'x'.repeat(300)}…`)
  expect(clauseOf(`${'x'.repeat(299)}🙂y`)).toBe(`${'x'.repeat(299)}…`)
})
