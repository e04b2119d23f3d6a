import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, fstatSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ReplicaName } from '../assignment.ts'
import type { ReplicaFiles } from '../files/replicaFiles.ts'
import { logStreams } from '../files/replicaFiles.ts'
import { readCommandLine, readStat } from '../machine/processTable.ts'
import { shellPassesOn } from './shellVariables.ts'

const marker = 'xce-replica'

/**
 * The shell line that starts a replica in its own session. It stays the session's leader while the command runs.
 * - It claims the start by creating a file, which fails when the file exists. So a start that a killed worker left half
 *   done happens once or never.
 * - It catches every signal that can be caught, because the signals of a stop go to the whole group and the line has to
 *   live on to write the status. In the command these signals have their default action again.
 * - The command appends to files. Without a pipe, the worker and the replica can outlive each other.
 * - A shell's status is 137 for `exit 137` and for SIGKILL. `jobs` tells them apart, but only of a command in the
 *   background and only at the moment of its end. A shell lets such a command ignore INT and QUIT: env(1) undoes that, and
 *   in bash the trap does. Where neither can be done, the command runs in the foreground.
 * A worker finds the line again by its command line ($0, directory, start, exit file, cgroup).
 */
export const starterLine = `
_xce_directory=$1 _xce_start=$2 _xce_exit=$3 _xce_cgroup=$4 _xce_told=
shift 4
_xce_claim=$_xce_directory/claim-$_xce_start
set -C
: > "$_xce_claim" || exit 0
set +C
[ -z "$_xce_cgroup" ] || echo $$ > "$_xce_cgroup/cgroup.procs"
trap : 1 2 3 6 10 12 13 14 15 16 20 21 22 23 24 25 26 27 28 29 30 31 ${realTimeSignals()}
. "$_xce_directory/arguments.sh"
if [ -z "$_xce_resets\${BASH_VERSION-}" ]; then
  "$@" >> "$_xce_directory/stdout.log" 2>> "$_xce_directory/stderr.log"
  _xce_status=$?
else
  trap 'jobs > "$_xce_claim"; read -r _xce_told < "$_xce_claim"' 17
  (trap - 2 3; exec "$@" >> "$_xce_directory/stdout.log" 2>> "$_xce_directory/stderr.log") &
  while :; do
    wait $!
    _xce_status=$?
    case $_xce_told in '' | *Running* | *Stopped*) ;; *) break ;; esac
    kill -0 $! 2> /dev/null || break
  done
  # bash ends the first wait with the signal CHLD, and tells the status in the second one.
  [ $_xce_status != 145 ] || { wait $!; _xce_status=$?; }
fi
printf '%s %s\\n' $_xce_status "$_xce_told" > "$_xce_exit"
`

function realTimeSignals(): string {
  return Array.from({ length: 31 }, (_, index) => 34 + index).join(' ')
}

export interface Launch {
  readonly replica: ReplicaName
  readonly start: number
  /** The first word is a path (see findExecutable). */
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly workingDirectory: string
  /** The directory of the replica's cgroup; null where memory and CPU are not enforced. */
  readonly cgroup: string | null
}

/** Starts a replica. Rejects with the system's error when the process can't be started. */
export async function launch(files: ReplicaFiles, what: Launch): Promise<ChildProcess> {
  const directory = files.directory(what.replica)
  for (const stream of logStreams) appendFileSync(files.log(what.replica, stream), '', { mode: 0o600 })
  writeFileSync(files.arguments(what.replica), argumentLines(what), { mode: 0o600 })
  const words = [
    directory,
    String(what.start),
    files.exit(what.replica, what.start),
    what.cgroup ?? '',
    ...what.command,
  ]
  const child = spawn('/bin/sh', ['-c', starterLine, marker, ...words], {
    cwd: what.workingDirectory,
    env: inheritedVariables(what.environment),
    detached: true,
    stdio: 'ignore',
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.unref()
  return child
}

/** The variables that the command inherits through the starter's shell. */
export function inheritedVariables(environment: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => shellPassesOn(name)))
}

/**
 * The lines that let env(1) give the command the variables that no shell may see, and take away those that shells add. The
 * command gets exactly its own environment, and PWD.
 */
export function argumentLines(what: Pick<Launch, 'environment' | 'workingDirectory' | 'command'>): string {
  const environment = { PWD: what.workingDirectory, ...what.environment }
  const variables = Object.entries(environment).filter(([name]) => !shellPassesOn(name))
  const words = [
    ...['/usr/bin/env', ...(envResetsSignals() ? [resetOption] : [])],
    ...['OLDPWD', 'SHLVL', '_'].flatMap((name) => ['-u', name]),
    '--',
    ...variables.map(([name, value]) => `${name}=${value}`),
    // env(1) would take such a path for a variable. nice(1) does not look at it, and adds nothing to the niceness here.
    ...(what.command[0]?.includes('=') === true ? ['/usr/bin/nice', '-n', '0'] : []),
  ]
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
  return `_xce_resets=${envResetsSignals() ? 'yes' : ''}\nset -- ${quoted.join(' ')} "$@"\n`
}

const resetOption = '--default-signal=INT,QUIT'
let canReset: boolean | null = null

/** Whether this machine's env(1) has the option: coreutils have it since 8.31, of 2019, and busybox does not. */
function envResetsSignals(): boolean {
  canReset ??= spawnSync('/usr/bin/env', [resetOption, '/usr/bin/env'], { stdio: 'ignore' }).status === 0
  return canReset
}

/**
 * What env(1) or a shell printed last when the kernel refused to execute a program for a reason that was not seen before,
 * for example that the disk forbids it (noexec) or that its interpreter looked for another. Null when it was something else.
 */
export function refusalOf(stderrLog: string): string | null {
  try {
    const last = readEnd(stderrLog, 4_096).trimEnd().split('\n').at(-1) ?? ''
    return /^(?:\/usr\/bin\/(?:env|nice)|xce-replica: (?:line )?\d+): (.{1,1000})$/.exec(last)?.[1] ?? null
  } catch {
    return null
  }
}

function readEnd(file: string, bytes: number): string {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(bytes)
    const length = readSync(descriptor, buffer, 0, bytes, Math.max(0, fstatSync(descriptor).size - bytes))
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}

/** True for the line itself, and for its child until that becomes the command. */
export function isLaunchLine(pid: number): boolean {
  return readCommandLine(pid)[3] === marker
}

/** The session of a replica that an earlier worker started. */
export interface FoundLaunch {
  readonly replica: ReplicaName
  readonly start: number
  readonly pid: number
  readonly startTicks: number
}

/** All living sessions that were started from this state directory, whose path is in their command line. */
export function findLaunches(files: ReplicaFiles): FoundLaunch[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) return []
    const words = readCommandLine(pid)
    const [directory, start] = words.slice(4)
    if (words[3] !== marker || directory === undefined || path.dirname(directory) !== files.replicas) return []
    const stat = readStat(pid)
    // A child of the line that is not the command yet has the same command line, but it leads no session.
    if (stat === null || stat.dead || stat.session !== pid) return []
    return [{ replica: path.basename(directory), start: Number(start), pid, startTicks: stat.startTicks }]
  })
}
