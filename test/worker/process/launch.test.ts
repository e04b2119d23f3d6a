import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Exit, exitFromStatus } from '../../../src/worker/files/exit.ts'
import { argumentLines, inheritedVariables, starterLine } from '../../../src/worker/process/launch.ts'
import { expectNothingLeft } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

/** The line runs in whatever /bin/sh is: dash on Debian, bash on Red Hat. As `sh`, bash keeps closer to POSIX. */
const shells = [
  ['dash', ['/bin/dash']],
  ['bash', ['/bin/bash']],
  ['bash as sh', ['/bin/bash', '--posix']],
] as const
const found = shells.filter(([, [shell]]) => existsSync(shell))

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-launch-'))
})
afterEach(async () => {
  await expectNothingLeft()
  rmSync(directory, { recursive: true })
})

const exitFile = () => path.join(directory, 'exit')

interface How {
  readonly environment?: Record<string, string>
  /** What is written before the arguments, as on a machine with another env(1). */
  readonly withoutReset?: boolean
}

/** Runs a command as a replica is run, in the shell. */
function run(
  shell: readonly string[],
  command: readonly string[],
  { environment = {}, withoutReset }: How = {},
): Exit | null {
  const lines = argumentLines({ environment, workingDirectory: directory, command })
  const text = withoutReset === true ? lines.replace("'--default-signal=INT,QUIT' ", '').replace('=yes', '=') : lines
  writeFileSync(path.join(directory, 'arguments.sh'), text)
  const [file = '', ...options] = shell
  const words = [...options, '-c', starterLine, 'xce-replica', directory, '1', exitFile(), '', ...command]
  rmSync(path.join(directory, 'claim-1'), { force: true })
  const { error } = spawnSync(file, words, { env: inheritedVariables(environment), cwd: directory, stdio: 'ignore' })
  if (error !== undefined) throw error
  return exitFromStatus(readFileSync(exitFile(), 'utf8'))
}

const stdout = () => readFileSync(path.join(directory, 'stdout.log'))

describe.each(found)('in %s', (name, shell) => {
  test.each([0, 1, 126, 127, 129, 130, 131, 137, 141, 143, 145, 192, 255])('exit %i is told as a code', (code) => {
    expect(run(shell, ['/bin/sh', '-c', `exit ${code}`])).toEqual({ code, signal: null })
  })

  test.each(['HUP', 'INT', 'QUIT', 'ABRT', 'KILL', 'SEGV', 'PIPE', 'TERM', 'USR1', 'XCPU'])(
    'an end by %s is told as the signal',
    (signal) => {
      expect(run(shell, ['/bin/sh', '-c', `kill -${signal} $$`])).toEqual({ code: null, signal })
    },
  )

  test('an end at once is told, too', () => {
    for (let times = 0; times < 10; times++) {
      expect(run(shell, ['/bin/sh', '-c', 'kill $$'])).toEqual({ code: null, signal: 'TERM' })
      expect(run(shell, ['/bin/sh', '-c', 'exit 143'])).toEqual({ code: 143, signal: null })
    }
  })

  test('the command ignores no signal and catches none', () => {
    run(shell, ['/bin/cat', '/proc/self/status'])
    expect(stdout().toString()).toMatch(/^SigIgn:\s+0+\nSigCgt:\s+0+$/m)
  })

  test('signals that the line catches do not end it before the command, and are no end of the command', async () => {
    const command = [
      '/bin/sh',
      '-c',
      "trap 'echo caught' USR1; echo ready; while [ ! -f go ]; do sleep 0.02; done; exit 138",
    ]
    const lines = argumentLines({ environment: {}, workingDirectory: directory, command })
    writeFileSync(path.join(directory, 'arguments.sh'), lines)
    const [file, ...options] = shell
    const words = [...options, '-c', starterLine, 'xce-replica', directory, '1', exitFile(), '', ...command]
    const line = spawn(file, words, { env: { PATH: '/bin:/usr/bin' }, cwd: directory, stdio: 'ignore', detached: true })
    const ended = new Promise((resolve) => line.once('exit', resolve))
    const log = path.join(directory, 'stdout.log')
    const prints = (text: string) =>
      until(() => existsSync(log) && readFileSync(log, 'utf8') === text, `it prints ${text}`)
    await prints('ready\n')
    for (let times = 1; times <= 3; times++) {
      process.kill(-(line.pid ?? 0), 'SIGUSR1')
      await prints(`ready\n${'caught\n'.repeat(times)}`)
    }
    writeFileSync(path.join(directory, 'go'), '')
    await ended
    expect(exitFromStatus(readFileSync(exitFile(), 'utf8'))).toEqual({ code: 138, signal: null })
  })

  test('every variable arrives byte for byte, whatever the shell knows by its name, and no other does', () => {
    const words = shells.flatMap(([, [file]]) =>
      existsSync(file) ? (readFileSync(file, 'latin1').match(/\b[A-Za-z_][A-Za-z0-9_]{0,30}\b/g) ?? []) : [],
    )
    const known = new Set(words.filter((word) => /^[A-Z_]+[A-Z0-9_]*$/.test(word)))
    for (const word of ['IFS', 'OPTIND', 'PPID', 'PATH', 'LC_ALL', '_', 'PWD', 'a', '_xce_start', 'LD_PRELOAD'])
      known.add(word)
    expect(known.size).toBeGreaterThan(100)
    const value = ` 'x"$(exit 3)\\n\n\té€=`
    // The loader reads these before any program runs.
    const harmless = [...known].filter((word) => !/^LD_|^GLIBC_|^MALLOC_/.test(word))
    const environment = Object.fromEntries(harmless.map((word) => [word, value]))
    environment['spring.profiles-active'] = value
    environment['-u'] = value
    environment['EMPTY'] = ''
    expect(run(shell, ['/usr/bin/env', '-0'], { environment })).toEqual({ code: 0, signal: null })
    const arrived = Object.fromEntries(
      stdout()
        .toString()
        .split('\0')
        .slice(0, -1)
        .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
    )
    expect(arrived).toEqual(environment)
  })

  test('the environment is what it was given and PWD, and a path with = is a path', () => {
    const program = path.join(directory, 'a=b')
    execFileSync('/bin/cp', ['/usr/bin/env', program])
    run(shell, [program], { environment: { PATH: '/bin' } })
    expect(stdout().toString().split('\n').sort()).toEqual(['', 'PATH=/bin', `PWD=${directory}`])
  })

  test('without an env(1) that resets signals the command ignores none either', () => {
    run(shell, ['/bin/cat', '/proc/self/status'], { withoutReset: true })
    expect(stdout().toString()).toMatch(/^SigIgn:\s+0+\nSigCgt:\s+0+$/m)
    const exit = run(shell, ['/bin/sh', '-c', 'exit 143'], { withoutReset: true })
    // dash can't tell there.
    expect(exit).toEqual(name === 'dash' ? { code: null, signal: 'TERM' } : { code: 143, signal: null })
    expect(run(shell, ['/bin/sh', '-c', 'kill -TERM $$'], { withoutReset: true })).toEqual({
      code: null,
      signal: 'TERM',
    })
  })
})

test.each([
  ['137 [1] + Done(137)    (trap - 2 3)\n', { code: 137, signal: null }],
  ['0 [1]+  Done           (trap - 2 3)\n', { code: 0, signal: null }],
  ['145 [1]+  Exit 7       (trap - 2 3)\n', { code: 7, signal: null }],
  ['137 [1] + Killed    \n', { code: null, signal: 'KILL' }],
  ['127 [1] + Killed    \n', { code: null, signal: 'KILL' }],
  ['127 [1] + Segmentation fault (core dumped)    (trap\n', { code: null, signal: 'SEGV' }],
  ['127 [1] + Broken pipe\n', { code: null, signal: 'PIPE' }],
  ['127 [1] + Real-time signal 30\n', { code: null, signal: 'RTMIN+30' }],
  ['127 [1] + Something else\n', { code: null, signal: null }],
  ['143 \n', { code: null, signal: 'TERM' }],
  ['3 \n', { code: 3, signal: null }],
  ['137 [1] + Done(137)', null],
  ['', null],
])('%j is %j', (text, exit) => {
  expect(exitFromStatus(text)).toEqual(exit)
})
