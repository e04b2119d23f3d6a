import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { logBytes } from '../../../src/worker/files/logBounds.ts'
import { rotateLog } from '../../../src/worker/files/logRotation.ts'
import { assignmentOf, Supervision } from '../../support/drivers/supervision.ts'
import { linesIn, readLog } from '../../support/fixtures/logAnswers.ts'
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

describe('a rotation', () => {
  test('is made from the limit on, and keeps the last bytes', async () => {
    writeFileSync(log, numbered(0, 1_000))
    const turned: number[] = []
    const rotate = (limit: number) => rotateLog(log, older, (size) => turned.push(size), limit)
    await rotate(100_000)
    expect(turned).toEqual([])
    await rotate(50)
    expect(turned).toEqual([numbered(0, 1_000).length])
    expect(statSync(log).size).toBe(0)
    expect(readFileSync(older, 'utf8')).toBe(numbered(0, 1_000).slice(-50))
    appendFileSync(log, 'more\n'.repeat(20))
    await rotate(50)
    expect(turned.at(-1)).toBe(100)
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
      async () => linesIn(await readLog(supervision.supervisor, assignment.replica), 'STDERR')[0] === 'written',
      'all is written',
    )
    const answer = await readLog(supervision.supervisor, assignment.replica, { tailLines: 1_000, stream: 'STDOUT' })
    const stdout = linesIn(answer)
    expect(stdout).toHaveLength(1_000)
    expect(answer.truncated).toBe(true)
    expect(stdout.at(-1)).toMatch(new RegExp(`^line ${lines - 1} \\.+$`))
    await supervision.dispose()
  })
})
