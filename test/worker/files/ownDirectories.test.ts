import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OwnDirectories } from '../../../src/worker/files/ownDirectories.ts'
import { ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { assignmentOf, httpProbe, newReplicaId, Supervision } from '../../support/drivers/supervision.ts'
import { linesIn, readLog } from '../../support/fixtures/logAnswers.ts'
import { kill } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

let supervision: Supervision
beforeEach(() => {
  supervision = new Supervision()
})
afterEach(async () => {
  await supervision.dispose()
})

const at = (...parts: string[]) => path.join(supervision.directory, ...parts)
const home = (replica: string) => at('homes', replica)

function logOf(replica: string): string[] {
  const file = at('replicas', replica, 'stdout.log')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}

/** Each start of it prints a line with what `words` say, and its pid. Then it runs. */
const prints = (words: string) => ['sh', '-c', `echo "${words} $$"; exec sleep 1000`]

async function lines(replica: string, count: number): Promise<string[]> {
  const found = await until(
    () => (logOf(replica).length === count ? logOf(replica) : null),
    `start ${count} has printed its line`,
  )
  return found.map((line) => line.replace(/ \d+$/, ''))
}

const pidOf = (replica: string) => Number(logOf(replica).at(-1)?.split(' ').at(-1))

describe('a replica', () => {
  test('starts in a directory of its own, which is empty, for this user only, and apart from what the worker writes of it', async () => {
    const [one, other] = [assignmentOf({ command: prints('$PWD $HOME $TMPDIR') }), assignmentOf()]
    for (const assignment of [one, other]) supervision.supervisor.assign(assignment)
    const own = home(one.replica)
    expect(await lines(one.replica, 1)).toEqual([`${own} ${own} ${own}`])
    await supervision.report(other.replica, { state: 'RUNNING' })
    for (const replica of [one.replica, other.replica]) {
      expect(readdirSync(home(replica))).toEqual([])
      expect(lstatSync(home(replica)).mode & 0o7777).toBe(0o700)
    }
    expect(lstatSync(at('homes')).mode & 0o7777).toBe(0o700)
    expect(readdirSync(at('homes')).sort()).toEqual([one.replica, other.replica].sort())
    expect(readdirSync(at('replicas', one.replica))).toContain('state.json')
  })

  test('has the HOME and TMPDIR that its profile or service says', async () => {
    const env = [
      { name: 'HOME', value: '/srv/home' },
      { name: 'TMPDIR', value: '/var/tmp' },
    ]
    const assignment = assignmentOf({ command: prints('$PWD $HOME $TMPDIR'), env })
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    expect(await lines(replica, 1)).toEqual([`${home(replica)} /srv/home /var/tmp`])
  })

  test('finds what it wrote after a restart in place, also one that was adopted', async () => {
    const command = ['sh', '-c', 'echo x >> kept; echo "$PWD $(wc -l < kept) $$"; exec sleep 1000']
    const assignment = assignmentOf({ command })
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    await lines(replica, 1)
    kill(pidOf(replica), 'SIGKILL')
    await lines(replica, 2)
    await supervision.reopen()
    expect(readFileSync(path.join(home(replica), 'kept'), 'utf8')).toBe('x\nx\n')
    kill(pidOf(replica), 'SIGKILL')
    expect(await lines(replica, 3)).toEqual([1, 2, 3].map((count) => `${home(replica)} ${count}`))
  })

  test.each([
    ['made/in/it', 'made/in/it'],
    ['.', ''],
  ])('starts in %s of its own directory', async (workingDirectory, place) => {
    const assignment = assignmentOf({ command: prints('$PWD $HOME'), workingDirectory })
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    const own = home(replica)
    expect(await lines(replica, 1)).toEqual([`${path.join(own, place)} ${own}`])
  })

  test.each(['..', '../..', 'a/../../b', `../${newReplicaId()}`])(
    'starts nowhere else by %s, whatever a server says',
    async (workingDirectory) => {
      const assignment = assignmentOf({ workingDirectory })
      supervision.supervisor.assign(assignment)
      const { replica } = assignment
      const { message } = await supervision.report(replica, { state: 'ENDED', endReason: 'START_FAILED' })
      expect(message).toBe(
        `The working directory ${workingDirectory} leaves the replica's own directory: correct the profile.`,
      )
      expect(readdirSync(at('homes'))).toEqual([replica])
    },
  )

  test('is probed by commands there', async () => {
    const action = { kind: 'exec' as const, command: ['sh', '-c', 'test -f here && test "$HOME" = "$PWD"'] }
    const assignment = assignmentOf({ readiness: httpProbe({ action }) })
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    await supervision.report(replica, { state: 'RUNNING' })
    writeFileSync(path.join(home(replica), 'here'), '')
    await supervision.report(replica, { ready: true })
  })

  test('has it again where somebody removes it', async () => {
    const assignment = assignmentOf()
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    await supervision.report(replica, { state: 'RUNNING' })
    rmSync(at('homes'), { recursive: true })
    await until(() => existsSync(home(replica)), 'it is made anew')
    expect(lstatSync(home(replica)).mode & 0o7777).toBe(0o700)
    expect(supervision.story(replica)).toEqual(['1 STARTING', '1 RUNNING ready'])
  })

  type Planted = readonly [string, (place: string, elsewhere: string) => void, string]
  const givenAway: Planted = [
    'a directory of another user',
    (place) => {
      mkdirSync(place)
      chownSync(place, 4_711, 4_711)
    },
    'belongs to another user, with the id 4711. Remove it.',
  ]
  /** What somebody may put in its place; `elsewhere` is a directory with a file in it. */
  const planted: readonly Planted[] = [
    ['a file', (place) => writeFileSync(place, ''), 'is not a directory. Remove what is in its place.'],
    [
      'a link to a directory',
      (place, elsewhere) => symlinkSync(elsewhere, place),
      'is not a directory. Remove what is in its place.',
    ],
    [
      'a link to nothing',
      (place, elsewhere) => symlinkSync(path.join(elsewhere, 'none'), place),
      'is not a directory. Remove what is in its place.',
    ],
    // Only root can give a directory away.
    ...(process.geteuid?.() === 0 ? [givenAway] : []),
  ]

  function elsewhere(): string {
    mkdirSync(at('elsewhere'))
    writeFileSync(at('elsewhere', 'secret'), 'untouched')
    return at('elsewhere')
  }
  function expectUntouched(): void {
    expect(readdirSync(at('elsewhere'))).toEqual(['secret'])
  }

  test.each(planted)('is not started where %s is in the place of it', async (_what, plant, why) => {
    const assignment = assignmentOf()
    mkdirSync(at('homes'))
    plant(home(assignment.replica), elsewhere())
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    const { message } = await supervision.report(replica, { state: 'ENDED', endReason: 'START_FAILED' })
    expect(message).toBe(`The replica's own directory can't be used: ${home(replica)} ${why}`)
    expect(supervision.story(replica)).toEqual(['1 STARTING', '1 START_FAILED'])
    expectUntouched()
  })

  test.each(planted)('is not started again where %s has come in the place of it', async (_what, plant, why) => {
    const assignment = assignmentOf({ command: prints('$PWD') })
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    await lines(replica, 1)
    const place = home(replica)
    // Moved and planted at once: the worker makes anew what is not there.
    renameSync(place, at('moved'))
    plant(place, elsewhere())
    kill(pidOf(replica), 'SIGKILL')
    const { message } = await supervision.report(replica, { state: 'ENDED', endReason: 'START_FAILED', start: 2 })
    expect(message).toBe(`The replica's own directory can't be used: ${place} ${why}`)
    expect(logOf(replica)).toHaveLength(1)
    expectUntouched()
  })

  test('is not started where all of them would be somewhere else', async () => {
    rmSync(at('homes'), { recursive: true, force: true })
    symlinkSync(elsewhere(), at('homes'))
    const assignment = assignmentOf()
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    const { message } = await supervision.report(replica, { state: 'ENDED', endReason: 'START_FAILED' })
    expect(message).toBe(
      `The replica's own directory can't be used: ${at('homes')} is not a directory. Remove what is in its place.`,
    )
    expectUntouched()
  })

  test('that has ended keeps it as long as its log: both are there for who asks, and both go', async () => {
    const assignment = assignmentOf({ command: prints('$PWD') })
    supervision.supervisor.assign(assignment)
    const { replica } = assignment
    await lines(replica, 1)
    writeFileSync(path.join(home(replica), 'core'), '')
    supervision.supervisor.release(replica, { drain: false })
    await until(() => supervision.supervisor.reports().length === 0, 'it is forgotten')
    expect(linesIn(await readLog(supervision.supervisor, replica))).toHaveLength(1)
    expect(readdirSync(home(replica))).toEqual(['core'])
    rmSync(at('replicas', replica), { recursive: true })
    // The next one that is forgotten has the worker look.
    const next = assignmentOf()
    supervision.supervisor.assign(next)
    supervision.supervisor.release(next.replica, { drain: false })
    await until(() => !existsSync(home(replica)), 'it is removed')
    await until(() => readdirSync(at('removed')).length === 0, 'with what was in it')
    expect(existsSync(home(next.replica))).toBe(existsSync(at('replicas', next.replica)))
  })
})

describe('what is removed', () => {
  let directory: string
  beforeEach(() => {
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'xce-own-')))
  })
  afterEach(() => {
    rmSync(directory, { recursive: true })
  })
  const warnings: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) })

  test('is all of it, also what nobody may write to, and nothing that a link in it points to', async () => {
    const files = new ReplicaFiles(path.join(directory, 'state'))
    mkdirSync(files.root)
    const directories = new OwnDirectories(files, log, new AbortController().signal)
    const replica = newReplicaId()
    expect(directories.make({ replica, workingDirectory: 'a/b' })).toBe(null)
    const outside = path.join(directory, 'outside')
    mkdirSync(outside, { mode: 0o755 })
    writeFileSync(path.join(outside, 'file'), '')
    const inside = path.join(files.home(replica), 'a', 'b')
    symlinkSync(outside, path.join(inside, 'link'))
    symlinkSync('nowhere', path.join(inside, 'dangling'))
    writeFileSync(path.join(inside, 'file'), '', { mode: 0o400 })
    chmodSync(inside, 0o500)
    chmodSync(path.dirname(inside), 0)
    const alive = newReplicaId()
    expect(directories.make({ replica: alive, workingDirectory: null })).toBe(null)
    // Nothing that is no replica's.
    mkdirSync(path.join(files.homes, 'lost+found'))
    directories.discard((candidate) => candidate === alive)
    expect(readdirSync(files.homes).sort()).toEqual([alive, 'lost+found'].sort())
    await directories.sweep()
    expect(readdirSync(files.removed)).toEqual([])
    expect(readdirSync(outside)).toEqual(['file'])
    expect(statSync(outside).mode & 0o7777).toBe(0o755)
    expect(warnings).toEqual([])
  })

  test('is removed by the next worker where one ends before that', async () => {
    const files = new ReplicaFiles(directory)
    const ended = new AbortController()
    ended.abort()
    const before = new OwnDirectories(files, log, ended.signal)
    const replica = newReplicaId()
    expect(before.make({ replica, workingDirectory: 'a' })).toBe(null)
    before.discard(() => false)
    await before.sweep()
    // Moved aside: the same replica could come back.
    expect(readdirSync(files.homes)).toEqual([])
    expect(readdirSync(files.removed)).toHaveLength(1)
    await new OwnDirectories(files, log, new AbortController().signal).sweep()
    expect(readdirSync(files.removed)).toEqual([])
    expect(warnings).toEqual([])
  })
})
