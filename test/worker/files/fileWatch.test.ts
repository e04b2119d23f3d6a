import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FileWatch } from '../../../src/worker/files/fileWatch.ts'
import { ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { until } from '../../support/fixtures/until.ts'

const pauseMillis = 20
let files: ReplicaFiles
let looks: string[]
/** Replicas whose look finds something out of order. */
let broken: Set<string>
let fileWatch: FileWatch

beforeEach(() => {
  files = new ReplicaFiles(mkdtempSync(path.join(tmpdir(), 'xce-watch-')))
  for (const directory of [files.replicas, files.homes, files.exits]) mkdirSync(directory)
  looks = []
  broken = new Set()
  const look = async (replica: string) => {
    looks.push(replica)
    return !broken.has(replica)
  }
  fileWatch = new FileWatch({ files, look, log: pino({ level: 'silent' }), pauseMillis })
})
afterEach(async () => {
  await fileWatch.close()
  rmSync(files.root, { recursive: true, force: true })
})

function add(replica: string): void {
  mkdirSync(files.directory(replica))
  mkdirSync(files.home(replica))
  for (const stream of ['stdout', 'stderr'] as const) writeFileSync(files.log(replica, stream), '')
  fileWatch.add(replica)
}

const looksAt = (replica: string) => looks.filter((one) => one === replica).length

/** Waits until rounds of looks have gone by, which need a replica that is never quiet. */
async function rounds(count: number): Promise<void> {
  if (!broken.has('Replica_busy')) {
    broken.add('Replica_busy')
    add('Replica_busy')
  }
  const before = looksAt('Replica_busy')
  await until(() => looksAt('Replica_busy') >= before + count, `${count} rounds`)
}

test('a replica whose files do not change is not looked after, and each change is noticed', async () => {
  add('Replica_a')
  await rounds(5)
  const quiet = looksAt('Replica_a')
  expect(quiet).toBeLessThanOrEqual(3)
  await rounds(10)
  expect(looksAt('Replica_a')).toBe(quiet)
  for (const change of [
    () => appendFileSync(files.log('Replica_a', 'stdout'), 'x'),
    () => appendFileSync(files.log('Replica_a', 'stderr'), 'x'),
    () => rmSync(files.home('Replica_a'), { recursive: true }),
    () => rmSync(files.exits, { recursive: true }),
    () => rmSync(files.homes, { recursive: true }),
    () => rmSync(files.directory('Replica_a'), { recursive: true }),
  ]) {
    await rounds(5)
    const before = looksAt('Replica_a')
    change()
    await until(() => looksAt('Replica_a') > before, `a look after ${change}`)
  }
})

test('a program that writes all the time is looked after once in a round, however often it writes', async () => {
  add('Replica_a')
  await rounds(5)
  const [before, roundsBefore] = [looksAt('Replica_a'), looksAt('Replica_busy')]
  await until(() => {
    for (let line = 0; line < 100; line++) appendFileSync(files.log('Replica_a', 'stdout'), 'line\n')
    return looksAt('Replica_busy') >= roundsBefore + 10
  }, '10 rounds')
  expect(looksAt('Replica_a') - before).toBeGreaterThan(5)
  expect(looksAt('Replica_a') - before).toBeLessThanOrEqual(looksAt('Replica_busy') - roundsBefore + 1)
  await rounds(5)
  const quiet = looksAt('Replica_a')
  await rounds(5)
  expect(looksAt('Replica_a')).toBe(quiet)
})

test('what is out of order is looked after until it is not', async () => {
  broken.add('Replica_a')
  add('Replica_a')
  await until(() => looksAt('Replica_a') >= 8, 'it is looked after')
  broken.delete('Replica_a')
  await rounds(5)
  const quiet = looksAt('Replica_a')
  await rounds(5)
  expect(looksAt('Replica_a')).toBe(quiet)
})

test('a replica that is removed is not looked after any more', async () => {
  add('Replica_a')
  await rounds(5)
  fileWatch.remove('Replica_a')
  const before = looksAt('Replica_a')
  appendFileSync(files.log('Replica_a', 'stdout'), 'x')
  await rounds(5)
  expect(looksAt('Replica_a')).toBe(before)
})

test('a file in the place of a replica’s directory ends nothing: others are looked after, and so is it when it is mended', async () => {
  add('Replica_a')
  rmSync(files.directory('Replica_a'), { recursive: true })
  writeFileSync(files.directory('Replica_a'), '')
  await rounds(5)
  rmSync(files.directory('Replica_a'))
  const before = looksAt('Replica_a')
  mkdirSync(files.directory('Replica_a'))
  writeFileSync(files.log('Replica_a', 'stdout'), 'x')
  await until(() => {
    appendFileSync(files.log('Replica_a', 'stdout'), 'x')
    return looksAt('Replica_a') > before
  }, 'it is looked after')
})
