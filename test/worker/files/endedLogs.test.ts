import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { EndedLogs, type EndedLogsOptions } from '../../../src/worker/files/endedLogs.ts'
import { endedBytesOfService, keptEndedReplicas, logBytes, logsToRemove } from '../../../src/worker/files/logBounds.ts'
import { LogMarks } from '../../../src/worker/files/logMarks.ts'
import { OwnDirectories } from '../../../src/worker/files/ownDirectories.ts'
import { ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { ReplicaRecords } from '../../../src/worker/files/replicaRecords.ts'
import { assignmentOf, Supervision } from '../../support/drivers/supervision.ts'
import { until } from '../../support/fixtures/until.ts'

const mebibyte = 1_048_576

let directory: string
let files: ReplicaFiles
let records: ReplicaRecords
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-logs-'))
  files = new ReplicaFiles(directory)
  records = new ReplicaRecords(files)
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

/** A replica that has ended after it wrote so much, the highest number last. */
function ended(number: number, service: string, bytes: number): string {
  const replica = `Replica_${service}-${String(number).padStart(4, '0')}`
  records.create(assignmentOf({ replica, service }))
  writeFileSync(files.log(replica, 'stdout'), '')
  truncateSync(files.log(replica, 'stdout'), bytes)
  records.forget(replica)
  utimesSync(files.directory(replica), 1_000 + number, 1_000 + number)
  return replica
}

const log = pino({ level: 'silent' })
const endedLogs = (
  isAlive: EndedLogsOptions['isAlive'] = () => false,
  onPruned: EndedLogsOptions['onPruned'] = () => undefined,
) => new EndedLogs({ files, marks: new LogMarks(files), log, isAlive, onPruned })

const sizeOf = (replica: string) =>
  readdirSync(files.directory(replica)).reduce(
    (sum, name) => sum + statSync(path.join(files.directory(replica), name)).size,
    0,
  )
const left = () => readdirSync(files.replicas).sort()

test('ten crashes of 57 MiB keep no more than the bound of a service, the newest ones, and push out nothing of another', async () => {
  const other = ended(0, 'other', 3_000)
  const crashes = Array.from({ length: 10 }, (_, number) => ended(number + 1, 'web', 57 * mebibyte))
  await endedLogs().prune()
  const kept = crashes.filter((replica) => left().includes(replica))
  expect(kept).toEqual(crashes.slice(-6))
  expect(kept.reduce((sum, replica) => sum + sizeOf(replica), 0)).toBeLessThanOrEqual(endedBytesOfService)
  for (const replica of kept) expect(sizeOf(replica)).toBeLessThan(logBytes + 1_000)
  expect(left()).toContain(other)
})

test('logs and own directories of replicas that have ended are kept, but not of all; a living one keeps its own', async () => {
  const ids = Array.from({ length: keptEndedReplicas + 5 }, (_, number) => ended(number, 'web', 10))
  const directories = new OwnDirectories(files, log, new AbortController().signal)
  for (const replica of ids) expect(directories.make({ replica, workingDirectory: null })).toBe(null)
  const isAlive = (replica: string) => replica === ids[0]
  await endedLogs(isAlive, (alive) => directories.discard(alive)).prune()
  expect(left()).toEqual([ids[0], ...ids.slice(5)])
  expect(readdirSync(files.homes).sort()).toEqual(left())
  await directories.sweep()
  expect(readdirSync(files.removed)).toEqual([])
})

test('the bound of all services together removes the oldest', () => {
  const logs = Array.from({ length: 40 }, (_, number) => ({
    replica: `r${number}`,
    service: `s${number}`,
    bytes: 40 * mebibyte,
    at: number,
  }))
  expect(logsToRemove(logs)).toEqual(
    logs
      .slice(0, 15)
      .map(({ replica }) => replica)
      .reverse(),
  )
})

test('a replica that writes much and ends leaves no more than its logs may have', async () => {
  const supervision = new Supervision()
  const command = ['sh', '-c', 'head -c 60000000 /dev/zero; head -c 60000000 /dev/zero >&2; exit 1']
  const restart = { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 600, delaySeconds: 0 } as const
  const assignment = assignmentOf({ command, restart })
  supervision.supervisor.assign(assignment)
  await supervision.report(assignment.replica, { state: 'ENDED' })
  supervision.supervisor.release(assignment.replica, { drain: false })
  const at = path.join(supervision.directory, 'replicas', assignment.replica)
  const sizes = () => readdirSync(at).map((name) => statSync(path.join(at, name)).size)
  await until(() => sizes().reduce((sum, size) => sum + size, 0) < 4 * logBytes, 'they are cut')
  await supervision.dispose()
})
