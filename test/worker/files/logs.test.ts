import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { logBytes, rotateLog } from '../../../src/worker/files/logRotation.ts'
import { tailBytes, tailFiles } from '../../../src/worker/files/logTail.ts'
import { OwnDirectories } from '../../../src/worker/files/ownDirectories.ts'
import { ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { keptEndedReplicas, ReplicaRecords } from '../../../src/worker/files/replicaRecords.ts'
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
    expect(await rotateLog(log, older, 100_000)).toBe(false)
    expect(await rotateLog(log, older, 50)).toBe(true)
    expect(statSync(log).size).toBe(0)
    expect(readFileSync(older, 'utf8')).toBe(numbered(0, 1_000).slice(-50))
    appendFileSync(log, 'more\n'.repeat(20))
    expect(await rotateLog(log, older, 50)).toBe(true)
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

test('logs and own directories of replicas that have ended are kept, but not of all', async () => {
  const files = new ReplicaFiles(directory)
  const records = new ReplicaRecords(files)
  const ids = Array.from({ length: keptEndedReplicas + 5 }, (_, index) => `Replica_${String(index).padStart(4, '0')}`)
  const directories = new OwnDirectories(files, pino({ level: 'silent' }), new AbortController().signal)
  for (const replica of ids) {
    records.create(assignmentOf({ replica }))
    expect(directories.make({ replica, workingDirectory: null })).toBe(null)
    records.forget(replica)
  }
  const alive = ids[0] ?? ''
  records.prune((replica) => replica === alive)
  directories.discard((replica) => replica === alive)
  const left = ids.filter((replica) => statSync(files.directory(replica), { throwIfNoEntry: false }) !== undefined)
  expect(left).toHaveLength(keptEndedReplicas + 1)
  expect(left).toContain(alive)
  expect(left).toContain(ids.at(-1))
  expect(readdirSync(files.homes).sort()).toEqual(left)
  await directories.sweep()
  expect(readdirSync(files.removed)).toEqual([])
})
