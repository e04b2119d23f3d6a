import { readFileSync } from 'node:fs'
import type { Assignment, ReplicaName } from '../assignment.ts'
import { unknownExit } from '../files/exit.ts'
import type { ExitFiles } from '../files/exitFiles.ts'
import type { ReplicaFiles } from '../files/replicaFiles.ts'
import type { ReplicaRecords, ReplicaState } from '../files/replicaRecords.ts'
import { bootId } from '../machine/bootClock.ts'
import type { Sessions } from '../machine/sessions.ts'
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
  await Promise.all(strays.map((launch) => parts.sessions.clear(launch.pid, kill)))
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
 * Kills what the ended replica left in its session. The session's number may belong to other processes by now, so every
 * process must have the replica's id in its environment.
 */
async function clearRemains(parts: RecoveryParts, replica: ReplicaName, session: number): Promise<void> {
  const members = await parts.sessions.membersOf(session)
  if (members.length === 0 || !members.every(({ pid }) => hasVariable(pid, `XCE_REPLICA_ID=${replica}`))) return
  await parts.sessions.clear(session, { patienceMillis: 0, spared: null, signal: parts.life })
}

function hasVariable(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable)
  } catch {
    return false
  }
}

function findIn(launches: readonly FoundLaunch[], replica: ReplicaName, start: number): FoundLaunch | undefined {
  return launches.find((launch) => launch.replica === replica && launch.start === start)
}
