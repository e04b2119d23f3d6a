import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { logBytes } from '../../../src/worker/files/logBounds.ts'
import { withLog } from '../../../src/worker/files/logFiles.ts'
import { LogKeeper } from '../../../src/worker/files/logKeeper.ts'
import { LogMarks, startsOf } from '../../../src/worker/files/logMarks.ts'
import { readLog } from '../../../src/worker/files/logReader.ts'
import { ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { assignmentOf, Supervision } from '../../support/drivers/supervision.ts'
import { linesIn, logQuestion, readLog as readNow } from '../../support/fixtures/logAnswers.ts'
import { until } from '../../support/fixtures/until.ts'

const replica = 'Replica_a'
let files: ReplicaFiles
let now: number
let marks: LogMarks
let keeper: LogKeeper
beforeEach(() => {
  files = new ReplicaFiles(mkdtempSync(path.join(tmpdir(), 'xce-marks-')))
  mkdirSync(files.directory(replica), { recursive: true })
  now = 1_000
  open()
})
afterEach(async () => {
  await keeper.close()
  rmSync(files.root, { recursive: true })
})

/** As a worker that starts. */
function open(): void {
  marks = new LogMarks(files, () => now)
  keeper = new LogKeeper(files, marks, pino({ level: 'silent' }))
}

const write = (text: string, stream: 'stdout' | 'stderr' = 'stdout') => appendFileSync(files.log(replica, stream), text)

async function look(at: number): Promise<void> {
  now = at
  await keeper.look(replica)
}

function start(number: number, at: number): void {
  now = at
  marks.markStart(replica, number)
}

/** Each of the last lines of a stream with its time and its start. */
function dated(stream: 'stdout' | 'stderr', count: number): [string, number | null, number | null][] {
  const question = logQuestion({ tailLines: count, stream: stream === 'stdout' ? 'STDOUT' : 'STDERR' })
  const { runs } = withLog(files, marks, replica, (log) => readLog(log, question, false))
  return runs.flatMap(({ lines, at, start: by }) =>
    lines.map((text): [string, number | null, number | null] => [text, at, by]),
  )
}

test('a line has the time of the first look that saw it, and the start that wrote it', async () => {
  write('before\n')
  start(1, 1_000)
  write('a\nb\n')
  write('oh\n', 'stderr')
  await look(2_000)
  write('c\n')
  start(2, 3_000)
  start(3, 3_500)
  write('d\n')
  await look(4_000)
  write('not seen')
  const all = [
    ['before', 1_000, null],
    ['a', 2_000, 1],
    ['b', 2_000, 1],
    ['c', 3_000, 1],
    ['d', 4_000, 3],
    ['not seen', null, 3],
  ]
  expect(dated('stdout', 10)).toEqual(all)
  for (let count = 1; count < all.length; count++) expect(dated('stdout', count)).toEqual(all.slice(-count))
  expect(dated('stderr', 10)).toEqual([['oh', 2_000, 1]])
  expect(startsOf(marks.read(replica).marks)).toEqual([
    { start: 1, at: 1_000 },
    { start: 2, at: 3_000 },
    { start: 3, at: 3_500 },
  ])
})

test('what has come is dated when somebody asks, once', () => {
  start(1, 1_000)
  write('a\n')
  now = 2_000
  marks.markNow(replica)
  now = 3_000
  marks.markNow(replica)
  write('b\n')
  marks.markNow(replica)
  expect(dated('stdout', 10)).toEqual([
    ['a', 2_000, 1],
    ['b', 3_000, 1],
  ])
  expect(marks.read(replica).marks).toHaveLength(3)
})

test('a log keeps its name, also for the next worker and over many marks', () => {
  start(1, 1_000)
  const { log } = marks.read(replica)
  expect(log).toMatch(/^[0-9a-f]{8}$/)
  open()
  for (let at = 0; at < 600; at++) marks.markSeen(replica, { stdout: at, stderr: 0 })
  open()
  expect(marks.read(replica).log).toBe(log)
  rmSync(files.marks(replica))
  open()
  start(1, 1_000)
  expect(marks.read(replica).log).not.toBe(log)
})

test('times are kept over rotations and by the next worker', async () => {
  start(1, 1_000)
  write(`${'x'.repeat(logBytes)}\n`)
  await look(2_000)
  write('a\n')
  await look(3_000)
  await keeper.close()
  open()
  write('b\n')
  await look(4_000)
  start(2, 5_000)
  write(`${'y'.repeat(logBytes)}\nc\n`)
  await look(6_000)
  write('d\n')
  await look(7_000)
  expect(dated('stdout', 2)).toEqual([
    ['c', 6_000, 2],
    ['d', 7_000, 2],
  ])
})

test('the file of marks stays small, and what comes after many marks is dated as before', async () => {
  start(1, 1_000)
  for (let at = 0; at < 2_000; at++) {
    write(`${at}\n`)
    now = 10_000 + at
    marks.markSeen(replica, { stdout: readFileSync(files.log(replica, 'stdout')).length, stderr: 0 })
  }
  expect(readFileSync(files.marks(replica)).length).toBeLessThan(65_536)
  expect(dated('stdout', 2)).toEqual([
    ['1998', 11_998, 1],
    ['1999', 11_999, 1],
  ])
})

test('a replica that is restarted in place tells which start wrote what', async () => {
  const supervision = new Supervision()
  const command = ['sh', '-c', 'echo "$$"; [ -e again ] && exec sleep 1000; touch again; exit 1']
  const assignment = assignmentOf({ command })
  supervision.supervisor.assign(assignment)
  await supervision.report(assignment.replica, { state: 'RUNNING', start: 2 })
  const answer = await until(async () => {
    const found = await readNow(supervision.supervisor, assignment.replica)
    return linesIn(found).length === 2 ? found : null
  }, 'both have printed')
  expect(answer.runs.map(({ start: by }) => by)).toEqual([1, 2])
  expect(answer.starts.map(({ start: number }) => number)).toEqual([1, 2])
  for (const { at } of answer.runs) expect(Math.abs(Date.now() - (at ?? 0))).toBeLessThan(60_000)
  await supervision.dispose()
})
