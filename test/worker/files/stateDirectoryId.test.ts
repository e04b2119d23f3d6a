import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { instanceOf } from '../../../src/worker/files/stateDirectoryId.ts'

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
  const instance = instanceOf(newDirectory().here, first)
  const { here } = newDirectory()
  const other = instanceOf(here, first)
  expect(other).not.toBe(instance)
  expect(instanceOf(here, first)).toBe(other)
})

test('a copy on another machine is another worker, from then on; where no machine is known, it can’t be told', () => {
  const { here, copy } = newDirectory()
  const instance = instanceOf(here, first)
  const there = copy()
  expect(instanceOf(there, null)).toBe(instance)
  const cloned = instanceOf(there, second)
  expect(cloned).not.toBe(instance)
  expect(instanceOf(there, second)).toBe(cloned)
  expect(instanceOf(here, first)).toBe(instance)
})

test('a directory of a release that did not note the machine keeps its worker', () => {
  const { here } = newDirectory()
  writeFileSync(path.join(here, 'instance'), 'of-before\n')
  expect(instanceOf(here, first)).toBe('of-before')
  expect(instanceOf(here, second)).not.toBe('of-before')
})
