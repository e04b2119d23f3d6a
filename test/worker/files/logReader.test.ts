import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type LogAnswer, type LogQuestion, longestPiece, positionOf } from '../../../src/model/replicaLog.ts'
import { withLog } from '../../../src/worker/files/logFiles.ts'
import { LogMarks } from '../../../src/worker/files/logMarks.ts'
import { readLog } from '../../../src/worker/files/logReader.ts'
import { rotateLog } from '../../../src/worker/files/logRotation.ts'
import { type LogStream, ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { linesIn, logQuestion } from '../../support/fixtures/logAnswers.ts'

const replica = 'Replica_a'
let files: ReplicaFiles
let now: number
let marks: LogMarks
beforeEach(() => {
  files = new ReplicaFiles(mkdtempSync(path.join(tmpdir(), 'xce-reader-')))
  mkdirSync(files.directory(replica), { recursive: true })
  now = 1_000
  marks = new LogMarks(files, () => now)
})
afterEach(() => {
  rmSync(files.root, { recursive: true })
})

const write = (text: string, stream: LogStream = 'stdout') => appendFileSync(files.log(replica, stream), text)

function look(at: number): void {
  now = at
  marks.markNow(replica)
}

function start(number: number, at: number): void {
  now = at
  marks.markStart(replica, number)
}

const rotate = (limit: number, stream: LogStream = 'stdout') =>
  rotateLog(
    files.log(replica, stream),
    files.rotatedLog(replica, stream),
    (size) => marks.markRotated(replica, stream, size),
    limit,
  )

const read = (change: Partial<LogQuestion> = {}, hasEnded = false): LogAnswer =>
  withLog(files, marks, replica, (log) => readLog(log, logQuestion(change), hasEnded))

/** Each line with `…` when it goes on. */
const shown = ({ runs }: LogAnswer) =>
  runs.flatMap(({ lines, cut }) => lines.map((text, at) => (cut && at === lines.length - 1 ? `${text}…` : text)))

function numbered(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('')
}

describe('the newest lines', () => {
  test.each([
    ['', 5, [], false],
    ['a', 5, ['a…'], false],
    ['a\nb\n', 5, ['a', 'b'], false],
    ['a\nb\n', 2, ['a', 'b'], false],
    ['a\nb\nc', 2, ['b', 'c…'], true],
    ['a\n\nb\n\n', 3, ['', 'b', ''], true],
    ['a\nb\n', 0, [], true],
    ['é\n€\n', 1, ['€'], true],
  ])('of %j, %i of them, are %j', (text, tailLines, lines, truncated) => {
    write(text)
    const answer = read({ tailLines })
    expect([shown(answer), answer.truncated]).toEqual([lines, truncated])
  })

  test('of no log are none', () => {
    expect(read()).toMatchObject({ state: 'OPEN', runs: [], truncated: false })
  })

  test('of a replica that has ended are whole', () => {
    write('a\nb')
    expect([read({}, true).state, shown(read({}, true))]).toEqual(['ENDED', ['a', 'b']])
  })

  test('go on into the older part, also in the middle of a line', async () => {
    write(`${numbered(0, 100_000)}line 100`)
    await rotate(1_000)
    write(`000\n${numbered(100_001, 100_010)}`)
    const answer = read({ tailLines: 15 })
    expect(shown(answer)).toEqual(numbered(99_995, 100_010).trimEnd().split('\n'))
    expect(answer.truncated).toBe(true)
    // What is left of the line in which the older part begins is no line.
    expect(shown(read({ tailLines: 10_000 }))[0]).toMatch(/^line \d{5}$/)
  })

  test.each([
    [6, ['bb', '€'], true],
    [7, ['bb', '€'], true],
    [9, ['a', 'bb', '€'], false],
    [3, ['€'], true],
    [1_000, ['a', 'bb', '€'], false],
  ])('have at most %i bytes: %j', (maxBytes, lines, truncated) => {
    write('a\nbb\n€')
    const answer = read({ maxBytes }, true)
    expect([shown(answer), answer.truncated]).toEqual([lines, truncated])
  })

  test('of one line that is longer than all that may be given are its end', () => {
    write(`${'€'.repeat(1_000)}end\n`)
    const answer = read({ maxBytes: 100 })
    expect(shown(answer).join('')).toMatch(/^€+end$/)
    expect(answer.truncated).toBe(true)
  })

  test('are of one stream or both, of one start, and of some time on', () => {
    start(1, 1_000)
    write('a\nunfinished')
    write('oh\n', 'stderr')
    look(2_000)
    start(2, 3_000)
    write('b\n')
    look(4_000)
    write('ah\n', 'stderr')
    look(5_000)
    write('c\n')
    look(6_000)
    expect(shown(read())).toEqual(['a', 'unfinished', 'oh', 'b', 'ah', 'c'])
    expect(shown(read({ stream: 'STDERR' }))).toEqual(['oh', 'ah'])
    expect(shown(read({ start: 1 }))).toEqual(['a', 'unfinished', 'oh'])
    expect(shown(read({ start: 2 }))).toEqual(['b', 'ah', 'c'])
    expect(shown(read({ start: 3 }))).toEqual([])
    expect(shown(read({ start: 1, tailLines: 1, stream: 'STDOUT' }))).toEqual(['unfinished'])
    expect(shown(read({ since: 4_000 }))).toEqual(['b', 'ah', 'c'])
    expect(shown(read({ since: 4_001 }))).toEqual(['ah', 'c'])
    expect(shown(read({ since: 6_001 }))).toEqual([])
    expect(read().runs.map(({ at, start: by }) => [at, by])).toEqual([
      [2_000, 1],
      [2_000, 1],
      [4_000, 2],
      [5_000, 2],
      [6_000, 2],
    ])
    expect(read({ start: 2 }).truncated).toBe(false)
  })

  test('are within 10,000, whatever they are', () => {
    write('\n'.repeat(20_000))
    const answer = read({ tailLines: 10_000 })
    expect([shown(answer).length, answer.truncated]).toEqual([10_000, true])
  })
})

describe('what comes after a position', () => {
  test('is what was written since, when its lines are whole', () => {
    start(1, 1_000)
    write('a\n')
    const first = read()
    expect(read({ after: first.position })).toMatchObject({ state: 'OPEN', runs: [], starts: [], skippedBytes: 0 })
    write('b\nc')
    write('oh\n', 'stderr')
    const second = read({ after: first.position })
    expect([linesIn(second), linesIn(second, 'STDERR')]).toEqual([['b'], ['oh']])
    expect(shown(read({ after: second.position }))).toEqual([])
    start(2, 3_000)
    write('d\n')
    const third = read({ after: second.position })
    expect([shown(third), third.starts]).toEqual([['c', 'd'], [{ start: 2, at: 3_000 }]])
    expect(read({ after: third.position }).starts).toEqual([])
  })

  test('ends when the replica has ended and all is told', () => {
    write('a\nb')
    const { position } = read({ tailLines: 0 })
    write('c\nd')
    const answer = read({ after: position, maxBytes: 2 }, true)
    expect([answer.state, shown(answer)]).toEqual(['OPEN', ['c']])
    const last = read({ after: answer.position }, true)
    expect([last.state, shown(last)]).toEqual(['ENDED', ['d']])
    expect(read({ after: last.position }, true)).toMatchObject({ state: 'ENDED', runs: [] })
  })

  test('begins where the log begins that is kept, with the number of bytes that are missing', async () => {
    const { position } = read()
    write(`${numbered(0, 1_000)}`)
    await rotate(105)
    const answer = read({ after: position })
    expect(shown(answer)).toEqual(numbered(989, 1_000).trimEnd().split('\n'))
    expect(answer.skippedBytes).toBe(numbered(0, 989).length)
  })

  test('of another log is all of this one', () => {
    write('a\n')
    start(1, 1_000)
    const { position } = read()
    const other = positionOf(position)
    expect(shown(read({ after: `00000001.7.${other?.stdout}.0` }))).toEqual(['a'])
    expect(read({ after: `00000001.7.${other?.stdout}.0` }).starts).toHaveLength(1)
    expect(shown(read({ after: position }))).toEqual([])
  })

  test('of a log that lost bytes goes on at its end', () => {
    write('a\nb\n')
    start(1, 1_000)
    const { position } = read()
    writeFileSync(files.log(replica, 'stdout'), 'x\n')
    expect(read({ after: position })).toMatchObject({ runs: [], skippedBytes: 0 })
  })

  test('is given in parts where a line is very long', () => {
    const { position } = read()
    write('€'.repeat(longestPiece))
    const parts: string[] = []
    let after = position
    for (let answer = read({ after }); answer.runs.length > 0; answer = read({ after })) {
      after = answer.position
      for (const { lines, cut } of answer.runs) {
        expect(cut).toBe(true)
        for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(longestPiece)
        parts.push(...lines)
      }
    }
    write('end\n')
    parts.push(...shown(read({ after })))
    expect(parts.join('')).toBe(`${'€'.repeat(longestPiece)}end`)
  })
})

test('a log that is being rotated is never read half rotated', async () => {
  const wrong: string[] = []
  let isDone = false
  const reading = (async () => {
    while (!isDone) {
      const lines = linesIn(read({ tailLines: 2 })).map((line) => Number(line.slice(5)))
      const [before = 0, after = before + 1] = lines
      if (after !== before + 1) wrong.push(lines.join())
      await new Promise(setImmediate)
    }
  })()
  for (let from = 0; from < 1_000; from += 20) {
    write(numbered(from, from + 20))
    await rotate(200)
  }
  isDone = true
  await reading
  expect(wrong).toEqual([])
  expect(statSync(files.rotatedLog(replica, 'stdout')).size).toBe(200)
})
