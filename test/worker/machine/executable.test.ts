import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findExecutable } from '../../../src/worker/machine/executable.ts'
import { refusalOf } from '../../../src/worker/process/launch.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-executable-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

function written(content: string | Buffer): string {
  const file = path.join(directory, 'program')
  writeFileSync(file, content)
  chmodSync(file, 0o755)
  return file
}

/** A copy of a program of this host with some bytes replaced. */
function changed(change: (program: Buffer) => void): string {
  const file = path.join(directory, 'program')
  copyFileSync('/bin/true', file)
  const program = readFileSync(file)
  change(program)
  return written(program)
}

const scripts: readonly (readonly [string, string, RegExp | null])[] = [
  ['a script', '#!/bin/sh\nexit 0\n', null],
  ['a script whose line is indented and has an argument', '#! \t/bin/sh -e\nexit 0\n', null],
  ['a script that env(1) starts', '#!/usr/bin/env sh\nexit 0\n', null],
  [
    'a script with CR LF',
    '#!/bin/sh\r\nexit 0\r\n',
    /its interpreter "\/bin\/sh\\r" does not exist .*\(ENOENT\)\. Its lines end with CR LF: save the file with LF\.$/,
  ],
  [
    'a script of an interpreter that is not there',
    '#!/no/such/sh\n',
    /its interpreter "\/no\/such\/sh" does not exist/,
  ],
  ['a script without the name of an interpreter', '#!\nexit 0\n', /names no interpreter after #! \(ENOEXEC\)/],
  [
    'a script without the first line',
    'echo hello\n',
    /does not know its format \(ENOEXEC\)\. A script begins with a line such as/,
  ],
  ['an empty file', '', /\(ENOEXEC\)/],
]

test.each(scripts)('%s is started, or the reason is what the kernel would say', (_what, content, reason) => {
  const found = findExecutable(written(content), '', directory)
  if (reason === null) expect(found.kind).toBe('found')
  else expect(found).toEqual({ kind: 'fault', message: expect.stringMatching(reason) })
})

test('a program of this host is started', () => {
  expect(
    findExecutable(
      changed(() => undefined),
      '',
      directory,
    ).kind,
  ).toBe('found')
  expect(findExecutable(process.execPath, '', directory).kind).toBe('found')
})

test('a program for another machine is told by that', () => {
  const file = changed((program) => program.writeUInt16LE(22, 18))
  expect(findExecutable(file, '', directory)).toEqual({
    kind: 'fault',
    message: expect.stringMatching(/it is a program for IBM Z, and this host is .+ \(ENOEXEC\)\.$/),
  })
})

test('a program whose loader is not there is told by that', ({ skip }) => {
  const loader = '/lib64/ld-linux'
  if (!readFileSync('/bin/true').includes(loader)) skip('this host has another loader')
  const file = changed((program) => program.write('/lib64/no-linux', program.indexOf(loader)))
  expect(findExecutable(file, '', directory)).toEqual({
    kind: 'fault',
    message: expect.stringMatching(
      /the loader \/lib64\/no-linux\S*, which it needs, does not exist on this host \(ENOENT\)/,
    ),
  })
})

test.each([
  ["a line\n/usr/bin/env: 'python9': No such file or directory\n", "'python9': No such file or directory"],
  ['xce-replica: 12: /srv/x: Permission denied\n', '/srv/x: Permission denied'],
  ['xce-replica: line 12: /srv/x: Text file busy\n', '/srv/x: Text file busy'],
  ['Error: exit 127\n', null],
  ['', null],
])('of %j the refusal of the kernel is %j', (text, refusal) => {
  const log = path.join(directory, 'stderr.log')
  writeFileSync(log, text)
  expect(refusalOf(log)).toBe(refusal)
  expect(refusalOf(path.join(directory, 'none'))).toBe(null)
})
