import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stateDirectoryIdOf } from '../../../src/worker/files/stateDirectoryId.ts'

function newDirectory(): { readonly here: string; readonly copy: () => string } {
  const parent = mkdtempSync(path.join(tmpdir(), 'xce-instance-'))
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
  const instance = stateDirectoryIdOf(newDirectory().here, first)
  const { here } = newDirectory()
  const other = stateDirectoryIdOf(here, first)
  expect(other).not.toBe(instance)
  expect(stateDirectoryIdOf(here, first)).toBe(other)
})

test('a copy on another machine is another worker, from then on; where no machine is known, it can’t be told', () => {
  const { here, copy } = newDirectory()
  const instance = stateDirectoryIdOf(here, first)
  const there = copy()
  expect(stateDirectoryIdOf(there, null)).toBe(instance)
  const cloned = stateDirectoryIdOf(there, second)
  expect(cloned).not.toBe(instance)
  expect(stateDirectoryIdOf(there, second)).toBe(cloned)
  expect(stateDirectoryIdOf(here, first)).toBe(instance)
})

test('a directory of a release that did not note the machine keeps its worker', () => {
  const { here } = newDirectory()
  writeFileSync(path.join(here, 'instance'), 'of-before\n')
  expect(stateDirectoryIdOf(here, first)).toBe('of-before')
  expect(stateDirectoryIdOf(here, second)).not.toBe('of-before')
})
