import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DirectoryInUseError, lockDirectory } from '../../../src/store/database/lock.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-lock-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

test('a second holder is refused with the directory and the process id of the first', async () => {
  const lock = await lockDirectory(directory)
  const refusal = await lockDirectory(directory).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(DirectoryInUseError)
  expect(String(refusal)).toContain(directory)
  expect(String(refusal)).toContain(`process id ${process.pid}`)
  await lock.release()
  await (await lockDirectory(directory)).release()
})

test('a directory is made with those above it, closed to others; where none can be made, that is told', async () => {
  const deep = path.join(directory, 'one', 'two')
  await (await lockDirectory(deep)).release()
  expect(statSync(deep).mode & 0o777).toBe(0o700)
  writeFileSync(path.join(directory, 'file'), '')
  await expect(lockDirectory(path.join(directory, 'file'))).rejects.toThrow('EEXIST')
  await expect(lockDirectory(path.join(directory, 'file', 'deep'))).rejects.toThrow(/EEXIST|ENOTDIR/)
  // Where Node's own recursive mkdir would never end.
  await expect(lockDirectory('/proc/none/deep')).rejects.toThrow(/ENOENT.*mkdir '\/proc\/none'/)
})

test('the lock of a process that was killed with SIGKILL is free', async () => {
  const file = path.join(directory, 'database.lock')
  writeFileSync(file, '')
  const native = createRequire(import.meta.url).resolve('fs-native-extensions')
  const program = `const { openSync, writeSync } = require('node:fs')
    const fd = openSync(${JSON.stringify(file)}, 'r+')
    if (!require(${JSON.stringify(native)}).tryLock(fd)) process.exit(1)
    writeSync(fd, process.pid + '\\n')
    process.stdout.write('locked')
    setInterval(() => {}, 60_000)`
  const holder = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  await expect(lockDirectory(directory)).rejects.toThrow(`process id ${holder.pid}`)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const lock = await lockDirectory(directory)
  await lock.release()
})
