import type { Assignment, ReplicaName } from '../assignment.ts'
import { unknownExit } from '../files/exit.ts'
import type { ExitFiles } from '../files/exitFiles.ts'
import type { ReplicaFiles } from '../files/replicaFiles.ts'
import type { ReplicaRecords, ReplicaState } from '../files/replicaRecords.ts'
import { bootId } from '../machine/bootClock.ts'
import { markOf, type Sessions } from '../machine/sessions.ts'
import { type FoundLaunch, findLaunches } from './launch.ts'
import type { Recovered } from './replica.ts'
import { adoptedProcess } from './replicaProcess.ts'

export interface RecoveryParts {
  readonly files: ReplicaFiles
  readonly records: ReplicaRecords
  readonly exits: ExitFiles
  readonly sessions: Sessions
  readonly life: AbortSignal
}

/**
 * Finds what earlier workers left on this machine: each replica with its process, or its end, or the knowledge that its
 * start never happened. Replicas run on untouched; only processes without a record are killed. After a start of the
 * machine no process is left, so the records are removed, too.
 */
export async function recover(parts: RecoveryParts): Promise<{ assignment: Assignment; recovered: Recovered }[]> {
  const { files, records } = parts
  const boot = bootId()
  const launches = findLaunches(files)
  const known = new Set<FoundLaunch>()
  const result: { assignment: Assignment; recovered: Recovered }[] = []
  for (const { assignment, state } of records.readAll()) {
    if (state.bootId !== boot) {
      records.forget(assignment.replica)
      continue
    }
    const found = findIn(launches, assignment.replica, state.start)
    if (found !== undefined) known.add(found)
    result.push({ assignment, recovered: await recoverOne(parts, assignment.replica, state, found) })
  }
  const strays = launches.filter((launch) => !known.has(launch))
  const kill = { patienceMillis: 0, spared: null, signal: parts.life }
  const isRecorded = (replica: ReplicaName) => result.some(({ assignment }) => assignment.replica === replica)
  await Promise.all(
    strays.map(({ replica, pid, startTicks }) => {
      // A recorded replica's own processes have the same mark as a stray start of it.
      const mark = isRecorded(replica) ? null : markOf('XCE_REPLICA_DIRECTORY', files.home(replica))
      return parts.sessions.clear({ session: pid, mark, sinceTicks: startTicks }, kill)
    }),
  )
  return result
}

async function recoverOne(
  parts: RecoveryParts,
  replica: ReplicaName,
  state: ReplicaState,
  found: FoundLaunch | undefined,
): Promise<Recovered> {
  if (state.ended !== null) return { state, process: null, exit: null }
  if (found !== undefined) return adopt(parts, state, found)
  const exit = parts.exits.read(replica, state.start)
  if (exit === null && parts.exits.voidStart(replica, state.start)) {
    return { state: { ...state, start: state.start + 1, process: null }, process: null, exit: null }
  }
  // The start has its claim, perhaps only just now: its worker may have been killed a moment before.
  const late = exit === null ? findIn(findLaunches(parts.files), replica, state.start) : undefined
  if (late !== undefined) return adopt(parts, state, late)
  if (state.process !== null) await clearRemains(parts, replica, state.process.pid)
  return { state, process: null, exit: exit ?? parts.exits.read(replica, state.start) ?? unknownExit }
}

function adopt(parts: RecoveryParts, state: ReplicaState, found: FoundLaunch): Recovered {
  const process = adoptedProcess(found, parts.exits)
  return { state: { ...state, process: { pid: found.pid, startTicks: found.startTicks } }, process, exit: null }
}

/**
 * Kills what the ended replica left. Its session's number may belong to other processes by now, but not while a process of
 * the replica is in that session.
 */
async function clearRemains(parts: RecoveryParts, replica: ReplicaName, session: number): Promise<void> {
  const mark = markOf('XCE_REPLICA_DIRECTORY', parts.files.home(replica))
  const marked = await parts.sessions.membersOf({ session: null, mark, sinceTicks: 0 })
  const isStillOurs = marked.some((member) => member.session === session)
  const belonging = { session: isStillOurs ? session : null, mark, sinceTicks: 0 }
  await parts.sessions.clear(belonging, { patienceMillis: 0, spared: null, signal: parts.life })
}

function findIn(launches: readonly FoundLaunch[], replica: ReplicaName, start: number): FoundLaunch | undefined {
  return launches.find((launch) => launch.replica === replica && launch.start === start)
}
