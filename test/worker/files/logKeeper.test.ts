import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { logBytes, nextLookMillis } from '../../../src/worker/files/logBounds.ts'
import { LogKeeper } from '../../../src/worker/files/logKeeper.ts'
import { LogMarks } from '../../../src/worker/files/logMarks.ts'
import { ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { until } from '../../support/fixtures/until.ts'

const mebibyte = 1_048_576

let directory: string
let files: ReplicaFiles
let warnings: Record<string, unknown>[]
const keepers: LogKeeper[] = []
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-logs-'))
  files = new ReplicaFiles(directory)
  warnings = []
})
afterEach(async () => {
  for (const keeper of keepers.splice(0)) await keeper.close()
  rmSync(directory, { recursive: true })
})

function keep(mostBytes?: number): LogKeeper {
  const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(JSON.parse(line)) })
  const keeper = new LogKeeper(files, new LogMarks(files), log, mostBytes)
  keepers.push(keeper)
  return keeper
}

/** Makes the log so large. */
function grow(replica: string, bytes: number, stream: 'stdout' | 'stderr' = 'stdout'): void {
  mkdirSync(files.directory(replica), { recursive: true })
  appendFileSync(files.log(replica, stream), '')
  truncateSync(files.log(replica, stream), bytes)
}

const sizes = (replica: string) =>
  [files.log(replica, 'stdout'), files.rotatedLog(replica, 'stdout')].map(
    (file) => statSync(file, { throwIfNoEntry: false })?.size ?? null,
  )

test.each([
  // Nothing, or 1 MiB in 2 s: the usual look is early enough.
  [0, 2_000, null],
  [mebibyte, 2_000, null],
  // 50 MiB in 2 s: 5 MiB take 200 ms.
  [50 * mebibyte, 2_000, 200],
  [973 * mebibyte, 2_000, 50],
  [60 * mebibyte, 0, 50],
])('after %i bytes in %i ms the next look is after %j ms', (grown, millis, next) => {
  expect(nextLookMillis(grown, millis, logBytes)).toBe(next)
})

test('a full log is turned, whatever its size was, and a writer that is too fast is named once', async () => {
  const keeper = keep()
  for (const bytes of [57 * mebibyte, 900 * mebibyte]) {
    grow('a', bytes)
    await keeper.look('a')
    expect(sizes('a')).toEqual([0, logBytes])
  }
  expect(warnings).toMatchObject([
    {
      replica: 'a',
      stream: 'stdout',
      bytes: 57 * mebibyte,
      msg: 'a replica writes its log faster than it can be kept: 57 MiB came between two looks, and all but the last 10 MiB are lost',
    },
  ])
})

test('a log that grows fast is looked at again although nobody asks', async () => {
  const keeper = keep()
  grow('a', 9 * mebibyte)
  await keeper.look('a')
  expect(sizes('a')).toEqual([9 * mebibyte, null])
  grow('a', 11 * mebibyte)
  await until(() => sizes('a')[0] === 0, 'it is turned')
})

test('looks follow a start, and none follow a replica that is forgotten', async () => {
  const keeper = keep()
  keeper.watchGrowth('a')
  grow('a', 11 * mebibyte)
  await until(() => sizes('a')[0] === 0, 'it is turned')
  keeper.forget('a')
  keeper.watchGrowth('b')
  grow('b', 11 * mebibyte)
  await until(() => sizes('b')[0] === 0, 'the other one is turned')
})

test('all logs together have a bound: older parts go first, the largest of them, and then logs', async () => {
  const keeper = keep(32 * mebibyte)
  for (const replica of ['a', 'b']) {
    grow(replica, 11 * mebibyte)
    await keeper.look(replica)
    grow(replica, 5 * mebibyte)
    await keeper.look(replica)
  }
  expect([sizes('a'), sizes('b')]).toEqual([
    [5 * mebibyte, logBytes],
    [5 * mebibyte, logBytes],
  ])
  writeFileSync(files.rotatedLog('a', 'stderr'), '')
  grow('c', 9 * mebibyte)
  await keeper.look('c')
  expect(existsSync(files.rotatedLog('a', 'stdout'))).toBe(false)
  expect([sizes('b'), sizes('c')]).toEqual([
    [5 * mebibyte, logBytes],
    [9 * mebibyte, null],
  ])
  grow('d', 9 * mebibyte, 'stderr')
  grow('d', 9 * mebibyte)
  await keeper.look('d')
  expect([sizes('a')[0], sizes('b'), sizes('c')[0]]).toEqual([5 * mebibyte, [5 * mebibyte, null], 0])
})

test('no log is no fault', async () => {
  const keeper = keep()
  await keeper.look('nobody')
  expect(warnings).toEqual([])
})
