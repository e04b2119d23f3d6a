import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ReplicaName } from '../assignment.ts'
import type { ReplicaFiles } from '../files/replicaFiles.ts'
import { logStreams } from '../files/replicaFiles.ts'
import { readCommandLine, readStat } from '../machine/processTable.ts'

const marker = 'xce-replica'

/**
 * The shell line that starts a replica in its own session. It stays the session's leader while the command runs.
 * - It claims the start by creating a file, which fails when the file exists. So a start that a killed worker left half
 *   done happens once or never.
 * - It catches every signal that can be caught, because the signals of a stop go to the whole group and the line has to
 *   live on to write the status. In the command these signals have their default action again.
 * - The command appends to files. Without a pipe, the worker and the replica can outlive each other.
 * The names begin with `_xce_`, because assigning a variable of the environment would change it for the command, too.
 * A worker finds the line again by its command line ($0, directory, start, exit file, cgroup).
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
  /** The directory of the replica's cgroup; null where memory and CPU are not enforced. */
  readonly cgroup: string | null
}

/** Starts a replica. Rejects with the system's error when the process can't be started. */
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

/** A shell drops variables whose names it can't express (`spring.profiles.active`), so env(1) gives them to the command. */
function writeArguments(file: string, environment: Readonly<Record<string, string>>): void {
  const unusual = Object.entries(environment).filter(([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (unusual.length === 0) {
    rmSync(file, { force: true })
    return
  }
  const words = unusual.map(([name, value]) => `'${`${name}=${value}`.replaceAll("'", `'\\''`)}'`)
  writeFileSync(file, `set -- /usr/bin/env ${words.join(' ')} "$@"\n`, { mode: 0o600 })
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
