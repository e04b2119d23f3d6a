import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { assignmentOf, httpProbe, Supervision } from '../../support/drivers/supervision.ts'
import { freePort } from '../../support/fixtures/freePort.ts'
import { endProcessesWith, isRunning, processesWith } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let supervision: Supervision
beforeEach(() => {
  supervision = new Supervision()
})
afterEach(async () => {
  await supervision.dispose()
})

function logOf(replica: string): string {
  const file = path.join(supervision.directory, 'replicas', replica, 'stdout.log')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** A number that only the processes of this test have in their command line. */
let nextMark = 100_000 + process.pid * 10
const newMark = () => String(nextMark++)

const never = { mode: 'ALWAYS', maxAttempts: 0, windowSeconds: 600, delaySeconds: 0 } as const
const stop = { signal: 'TERM', drainSeconds: 0, graceSeconds: 60, onLostContact: 'KEEP' as const }

/** How a program leaves something behind: in its group, in a group of its own, in a session of its own, and as a child of init. */
const ways = [
  ['in its process group', (mark: string) => `sleep ${mark} &`],
  ['in another process group', (mark: string) => `timeout 9999 sleep ${mark} &`],
  ['in another session', (mark: string) => `setsid sleep ${mark} > /dev/null 2>&1 &`],
  ['in another session, adopted by init', (mark: string) => `(setsid sleep ${mark} &);`],
  [
    'in another session, elsewhere and with another HOME',
    (mark: string) => `(cd / && HOME=/ TMPDIR=/ setsid sleep ${mark} &);`,
  ],
] as const

describe('what a program leaves behind', () => {
  test.each(ways)('%s ends with it before the next start, and the message says what to do', async (_way, leaves) => {
    const mark = newMark()
    const restart = { ...never, maxAttempts: 1 }
    const assignment = assignmentOf({ command: ['sh', '-c', `${leaves(mark)} sleep 0.05; echo done; exit 0`], restart })
    supervision.supervisor.assign(assignment)
    const { message } = await supervision.report(assignment.replica, { state: 'RUNNING', start: 2 })
    expect(message).toMatch(
      /^The process exited with code 0 and left (a process|2 processes) in the background \([a-z, ]+\), which the worker ended\. Run the program in the foreground/,
    )
    const end = await supervision.report(assignment.replica, { state: 'ENDED' })
    expect(end).toMatchObject({ endReason: 'GAVE_UP', exitCode: 0, message })
    expect(processesWith(mark)).toEqual([])
    expect(logOf(assignment.replica)).toBe('done\ndone\n')
  })

  test.each(ways)('%s gets the signal of a stop, and ends with it', async (_way, leaves) => {
    const mark = newMark()
    const assignment = assignmentOf({ command: ['sh', '-c', `${leaves(mark)} echo started; sleep ${mark}`], stop })
    supervision.supervisor.assign(assignment)
    await until(() => logOf(assignment.replica) === 'started\n', 'it has started')
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    await supervision.report(assignment.replica, { state: 'ENDED', endReason: 'STOPPED' })
    expect(processesWith(mark)).toEqual([])
  })

  test('ends also where no worker was there when the program ended', async () => {
    const mark = newMark()
    const command = ['sh', '-c', `setsid sleep ${mark} & echo started; while [ ! -f go ]; do sleep 0.02; done`]
    const assignment = assignmentOf({ command, restart: never })
    supervision.supervisor.assign(assignment)
    await until(() => logOf(assignment.replica) === 'started\n', 'it has started')
    const [left = 0] = await until(() => {
      const found = processesWith(`sleep\0${mark}`)
      return found.length === 1 ? found : null
    }, 'what it leaves')
    await supervision.supervisor.close()
    const home = path.join(supervision.directory, 'homes', assignment.replica)
    spawn('/usr/bin/touch', [path.join(home, 'go')])
    const exit = path.join(supervision.directory, 'exits', `${assignment.replica}.1`)
    await until(() => existsSync(exit), 'its end is written')
    expect(isRunning(left)).toBe(true)
    await supervision.reopen()
    await supervision.report(assignment.replica, { state: 'ENDED', endReason: 'EXITED', exitCode: 0 })
    expect(isRunning(left)).toBe(false)
  })

  test('is not what another replica or another worker runs', async () => {
    const other = new Supervision()
    const [mark, replica] = [newMark(), 'Replica_the-same-id']
    try {
      const running = ['sh', '-c', `setsid sleep ${mark} & echo started; wait`]
      const [neighbour, namesake] = [assignmentOf({ command: running }), assignmentOf({ command: running, replica })]
      supervision.supervisor.assign(neighbour)
      other.supervisor.assign(namesake)
      await until(() => processesWith(`sleep\0${mark}`).length === 2, 'both run')
      const ends = assignmentOf({ command: ['sh', '-c', 'setsid sleep 1000 & exit 0'], restart: never, replica })
      supervision.supervisor.assign(ends)
      await supervision.report(replica, { state: 'ENDED' })
      expect(processesWith(`sleep\0${mark}`)).toHaveLength(2)
    } finally {
      await other.dispose()
    }
  })
})

describe('what a probe leaves behind', () => {
  test.each(ways)('%s ends with its run, and the replica goes on', async (_way, leaves) => {
    const mark = newMark()
    const port = await freePort()
    const command = ['sh', '-c', `echo run >> runs; ${leaves(mark)} sleep 0.02; exit 0`]
    const assignment = assignmentOf({
      command: ['sleep', '1000'],
      ports: [{ name: 'http', port, protocol: 'TCP' }],
      readiness: httpProbe({ action: { kind: 'exec', command } }),
    })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { ready: true })
    await until(() => processesWith(mark).length === 0, 'nothing is left of the first run')
    const runs = path.join(supervision.directory, 'homes', assignment.replica, 'runs')
    await until(() => readFileSync(runs, 'utf8') === 'run\nrun\n', 'it runs again')
    await until(() => processesWith(mark).length === 0, 'nothing is left of the second run')
    expect(supervision.story(assignment.replica)).toEqual(['1 STARTING', '1 RUNNING', '1 RUNNING ready'])
  })

  test('and hides from the worker ends with the replica', async () => {
    const mark = newMark()
    const command = ['sh', '-c', `[ -f first ] || { : > first; exec 3>&-; setsid sleep ${mark} & sleep 0.1; }; exit 0`]
    const assignment = assignmentOf({ readiness: httpProbe({ action: { kind: 'exec', command } }) })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { ready: true })
    await until(() => processesWith(`sleep\0${mark}`).length === 1, 'it is there')
    supervision.supervisor.assign({ ...assignment, goal: 'STOP' })
    await supervision.report(assignment.replica, { state: 'ENDED' })
    expect(processesWith(mark)).toEqual([])
    await endProcessesWith(mark)
  })
})
