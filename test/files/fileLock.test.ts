import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { tryLock } from 'fs-native-extensions'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type FileLock, lockHolder, takeLock } from '../../src/files/fileLock.ts'

let directory: string
let file: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-file-lock-'))
  file = path.join(directory, 'lock')
})
afterEach(() => rmSync(directory, { recursive: true }))

async function taken(): Promise<FileLock> {
  const result = await takeLock(file)
  if ('holder' in result) throw new Error(`held by ${result.holder.pid}`)
  return result.lock
}

/** The process id of a process that has ended. */
function endedPid(): number {
  return spawnSync('true').pid
}

test('a lookup names the holder, and nobody where the file is free or missing; it makes no file', async () => {
  expect(await lockHolder(file)).toBeNull()
  expect(existsSync(file)).toBe(false)
  const lock = await taken()
  expect(readFileSync(file, 'utf8')).toBe(`${process.pid}\n`)
  expect(await lockHolder(file)).toEqual({ pid: process.pid })
  expect(await takeLock(file)).toEqual({ holder: { pid: process.pid } })
  lock.release()
  expect(await lockHolder(file)).toBeNull()
})

test('lookups at the same time don’t take each other for the holder that the file still names', async () => {
  writeFileSync(file, `${process.pid}\n`)
  const holders = await Promise.all(Array.from({ length: 20 }, () => lockHolder(file)))
  expect(holders).toEqual(Array.from({ length: 20 }, () => null))
})

test('a lookup does not keep anybody from taking the lock', async () => {
  writeFileSync(file, `${process.pid}\n`)
  const lookup = openSync(file, 'r')
  expect(tryLock(lookup, { shared: true })).toBe(true)
  const taking = taken()
  closeSync(lookup)
  ;(await taking).release()
})

test('an earlier holder whose process id is still in the file is not named', async () => {
  writeFileSync(file, `${endedPid()}\n`)
  const holder = openSync(file, 'r+')
  expect(tryLock(holder)).toBe(true)
  const looking = lockHolder(file)
  writeFileSync(file, `${process.pid}\n`)
  expect(await looking).toEqual({ pid: process.pid })
  closeSync(holder)
})

test('a holder that never writes its process id is a holder without one', async () => {
  const holder = openSync(file, 'w')
  expect(tryLock(holder)).toBe(true)
  expect(await lockHolder(file)).toEqual({ pid: null })
  closeSync(holder)
})
