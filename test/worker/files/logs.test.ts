import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { logBytes } from '../../../src/worker/files/logBounds.ts'
import { rotateLog } from '../../../src/worker/files/logRotation.ts'
import { tailBytes, tailFiles } from '../../../src/worker/files/logTail.ts'
import { assignmentOf, Supervision } from '../../support/drivers/supervision.ts'
import { program } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let directory: string
let log: string
let older: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-logs-'))
  log = path.join(directory, 'stdout.log')
  older = `${log}.1`
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

function numbered(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('')
}

describe('the last lines', () => {
  test.each([
    ['', 5, [], false],
    ['a', 5, ['a'], false],
    ['a\nb\n', 5, ['a', 'b'], false],
    ['a\nb\n', 2, ['a', 'b'], false],
    ['a\nb\nc', 2, ['b', 'c'], true],
    ['a\n\nb\n\n', 3, ['', 'b', ''], true],
    ['a\nb\n', 0, [], true],
    ['é\n€\n', 1, ['€'], true],
  ])('of %j, %i of them, are %j', async (text, count, lines, truncated) => {
    writeFileSync(log, text)
    expect(await tailFiles(log, older, count)).toEqual({ lines, truncated })
  })

  test('of no log are none', async () => {
    expect(await tailFiles(log, older, 5)).toEqual({ lines: [], truncated: false })
  })

  test('go on into the rotated file, also in the middle of a line', async () => {
    writeFileSync(older, `${numbered(0, 100_000)}line 100`)
    writeFileSync(log, `000\n${numbered(100_001, 100_010)}`)
    const all = await tailFiles(log, older, 15)
    expect(all.lines).toEqual(numbered(99_995, 100_010).trimEnd().split('\n'))
    expect(all.truncated).toBe(true)
  })

  test('are bounded in bytes', async () => {
    writeFileSync(log, `${'€'.repeat(tailBytes)}end`)
    const { lines, truncated } = await tailFiles(log, older, 5)
    expect(truncated).toBe(true)
    expect(lines).toHaveLength(1)
    expect(lines[0]?.startsWith('€')).toBe(true)
    expect(lines[0]?.endsWith('€end')).toBe(true)
    expect(Buffer.byteLength(lines[0] ?? '')).toBeLessThanOrEqual(tailBytes)
  })
})

describe('a rotation', () => {
  test('is made from the limit on, and keeps the last bytes', async () => {
    writeFileSync(log, numbered(0, 1_000))
    expect(await rotateLog(log, older, 100_000)).toBe(null)
    expect(await rotateLog(log, older, 50)).toBe(numbered(0, 1_000).length)
    expect(statSync(log).size).toBe(0)
    expect(readFileSync(older, 'utf8')).toBe(numbered(0, 1_000).slice(-50))
    appendFileSync(log, 'more\n'.repeat(20))
    expect(await rotateLog(log, older, 50)).toBe(100)
    expect(readFileSync(older, 'utf8')).toBe('more\n'.repeat(10))
  })

  test('of a running replica loses no line that was written before it, and the program goes on writing', async () => {
    const supervision = new Supervision()
    const lines = Math.ceil(logBytes / 100) + 10
    const assignment = assignmentOf({ command: program('prints-much', String(lines)) })
    supervision.supervisor.assign(assignment)
    const file = path.join(supervision.directory, 'replicas', assignment.replica, 'stdout.log')
    await until(() => statSync(`${file}.1`, { throwIfNoEntry: false })?.size === logBytes, 'it is rotated')
    await until(
      async () => (await supervision.supervisor.tail(assignment.replica, 1)).stderr[0] === 'written',
      'all is written',
    )
    const { stdout, truncated } = await supervision.supervisor.tail(assignment.replica, 1_000)
    expect(stdout).toHaveLength(1_000)
    expect(truncated).toBe(true)
    expect(stdout.at(-1)).toMatch(new RegExp(`^line ${lines - 1} \\.+$`))
    await supervision.dispose()
  })
})
