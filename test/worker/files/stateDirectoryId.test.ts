import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stateDirectoryIdOf } from '../../../src/worker/files/stateDirectoryId.ts'
import { UnusableError } from '../../../src/worker/withRemedy.ts'

function newDirectory(): { readonly here: string; readonly copy: () => string } {
  const parent = mkdtempSync(path.join(tmpdir(), 'xce-state-'))
  onTestFinished(() => rmSync(parent, { recursive: true }))
  const here = path.join(parent, 'state')
  mkdirSync(here)
  const copy = () => {
    cpSync(here, path.join(parent, 'copy'), { recursive: true })
    return path.join(parent, 'copy')
  }
  return { here, copy }
}
const [first, second] = ['a'.repeat(32), 'b'.repeat(32)]

test('a state directory is the same worker over restarts, and another directory is another one', () => {
  const id = stateDirectoryIdOf(newDirectory().here, first)
  const { here } = newDirectory()
  const other = stateDirectoryIdOf(here, first)
  expect(other).not.toBe(id)
  expect(stateDirectoryIdOf(here, first)).toBe(other)
})

test('a copy on another machine is another worker, from then on; where no machine is known, it can’t be told', () => {
  const { here, copy } = newDirectory()
  const id = stateDirectoryIdOf(here, first)
  const there = copy()
  expect(stateDirectoryIdOf(there, null)).toBe(id)
  const cloned = stateDirectoryIdOf(there, second)
  expect(cloned).not.toBe(id)
  expect(stateDirectoryIdOf(there, second)).toBe(cloned)
  expect(stateDirectoryIdOf(here, first)).toBe(id)
})

test('a directory that was made where no machine is known keeps its worker on the first machine that is', () => {
  const { here } = newDirectory()
  const id = stateDirectoryIdOf(here, null)
  expect(stateDirectoryIdOf(here, first)).toBe(id)
  expect(stateDirectoryIdOf(here, second)).not.toBe(id)
})

test('a directory of before the first release is refused in one sentence, and nothing in it is changed', () => {
  const { here } = newDirectory()
  writeFileSync(path.join(here, 'instance'), 'of-then\n')
  writeFileSync(path.join(here, 'registrations'), '3\n')
  const filesOf = () => readdirSync(here).map((name) => [name, readFileSync(path.join(here, name), 'utf8')])
  const before = filesOf()
  expect(() => stateDirectoryIdOf(here, first)).toThrow(
    new UnusableError(
      `The state directory ${here} was made by an unreleased version of XCE Services and can't be taken over: let that version's worker stop its replicas (SIGUSR2), and choose an empty one with --state-dir.`,
    ),
  )
  expect(filesOf()).toEqual(before)
})
