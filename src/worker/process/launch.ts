import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ReplicaName } from '../assignment.ts'
import type { ReplicaFiles } from '../files/replicaFiles.ts'
import { logStreams } from '../files/replicaFiles.ts'
import { readCommandLine, readStat } from '../machine/processTable.ts'

const marker = 'xce-replica'

/**
 * The line that starts a replica, in its own session. It stays as the session's leader while the command runs:
 * - it claims the start by creating a file that nobody may have created, so that a start which a killed worker left half done happens once
 *   or never;
 * - it catches every signal that can be caught, for the signals of a stop go to the whole group and it must live to write the status (what
 *   it catches is back at the default in the command);
 * - the command appends to files: with no pipe to the worker, both can outlive the other.
 * Names begin with `_xce_`, because an assignment to a variable that the environment has would change it for the command too.
 * Its own command line ($0, directory, start, exit file, cgroup) is how a worker finds it again.
 */
const script = `
_xce_directory=$1 _xce_start=$2 _xce_exit=$3 _xce_cgroup=$4
shift 4
set -C
: > "$_xce_directory/claim-$_xce_start" || exit 0
set +C
[ -z "$_xce_cgroup" ] || echo $$ > "$_xce_cgroup/cgroup.procs"
trap : 1 2 3 6 10 12 13 14 15 16 20 21 22 23 24 25 26 27 28 29 30 31 ${realTimeSignals()}
[ ! -f "$_xce_directory/arguments.sh" ] || . "$_xce_directory/arguments.sh"
"$@" >> "$_xce_directory/stdout.log" 2>> "$_xce_directory/stderr.log"
echo $? > "$_xce_exit"
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
  /** The cgroup's directory, null where nothing is enforced. */
  readonly cgroup: string | null
}

/** Starts a replica; rejects with the system's error when there is no process. */
export async function launch(files: ReplicaFiles, what: Launch): Promise<ChildProcess> {
  const directory = files.directory(what.replica)
  for (const stream of logStreams) appendFileSync(files.log(what.replica, stream), '', { mode: 0o600 })
  writeArguments(files.arguments(what.replica), what.environment)
  const words = [
    directory,
    String(what.start),
    files.exit(what.replica, what.start),
    what.cgroup ?? '',
    ...what.command,
  ]
  const child = spawn('/bin/sh', ['-c', script, marker, ...words], {
    cwd: what.workingDirectory,
    env: what.environment,
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

/** A shell drops variables with names that are none in its language (`spring.profiles.active`): env(1) gives them to the command. */
function writeArguments(file: string, environment: Readonly<Record<string, string>>): void {
  const unusual = Object.entries(environment).filter(([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (unusual.length === 0) {
    rmSync(file, { force: true })
    return
  }
  const words = unusual.map(([name, value]) => `'${`${name}=${value}`.replaceAll("'", `'\\''`)}'`)
  writeFileSync(file, `set -- /usr/bin/env ${words.join(' ')} "$@"\n`, { mode: 0o600 })
}

/** True for the line itself and for its child that is still to become the command. */
export function isLaunchLine(pid: number): boolean {
  return readCommandLine(pid)[3] === marker
}

/** A replica's session that an earlier worker started here. */
export interface FoundLaunch {
  readonly replica: ReplicaName
  readonly start: number
  readonly pid: number
  readonly startTicks: number
}

/** All sessions that were started from this state directory and live: they carry its path in their command line. */
export function findLaunches(files: ReplicaFiles): FoundLaunch[] {
  return readdirSync('/proc').flatMap((entry) => {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) return []
    const words = readCommandLine(pid)
    const [directory, start] = words.slice(4)
    if (words[3] !== marker || directory === undefined || path.dirname(directory) !== files.replicas) return []
    const stat = readStat(pid)
    // A child of the line that has not become its command yet looks the same, but leads no session.
    if (stat === null || stat.dead || stat.session !== pid) return []
    return [{ replica: path.basename(directory), start: Number(start), pid, startTicks: stat.startTicks }]
  })
}
