import { setTimeout as wait } from 'node:timers/promises'
import { hasCode } from '../../files/systemError.ts'
import { addTo } from '../../model/groupBy.ts'
import type { ProcessStat } from './processTable.ts'
import { isAlive, readProcesses, readVariables } from './processTable.ts'

/** Sends a signal to a process group; false when the group is gone already. */
export function signalGroup(group: number, signal: string | number): boolean {
  // 0 and 1 would reach this worker's own group and every process of the user.
  return group > 1 && send(-group, signal)
}

/** The variables by which the processes of a replica and of one run of a probe are found. */
const markNames = ['XCE_REPLICA_DIRECTORY', 'XCE_PROBE_RUN'] as const

/** The mark of a replica is its own directory, because no other worker on this host has that. */
export function markOf(name: (typeof markNames)[number], value: string): string {
  return `${name}=${value}`
}

/** What tells the processes of one start of a replica, or of one run of a probe, from all others. */
export interface Belonging {
  /** The session in which it was started; null when that number may belong to others by now. */
  readonly session: number | null
  /** The variable that all of them inherit (`markOf`), so that also those are found that have left the session. */
  readonly mark: string | null
  /** When the first of them started. Older processes are not theirs, and their environments are not read. */
  readonly sinceTicks: number
}

/** The living processes in one pass over the process table. */
interface Pass {
  readonly bySession: ReadonlyMap<number, readonly ProcessStat[]>
  readonly byMark: ReadonlyMap<string, readonly ProcessStat[]>
}

/**
 * Ends everything that belongs to a start, also processes that left their process group or the session. One pass over the
 * process table serves all callers that wait for one, so that a thousand replicas that end together cost a few passes.
 */
export class Sessions {
  #next: Promise<Pass> | null = null
  /** The pass that comes next reads the environments of processes that started since then. */
  #sinceTicks = Number.POSITIVE_INFINITY

  /** The living processes that belong to it, as they are after this call. Never this worker. */
  async membersOf({ session, mark, sinceTicks }: Belonging): Promise<readonly ProcessStat[]> {
    if (mark !== null) this.#sinceTicks = Math.min(this.#sinceTicks, sinceTicks)
    this.#next ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#next = null
        try {
          resolve(this.#pass())
        } catch (error) {
          reject(error)
        }
      })
    })
    const { bySession, byMark } = await this.#next
    const members = new Set(session === null ? [] : bySession.get(session))
    for (const stat of mark === null ? [] : (byMark.get(mark) ?? []))
      if (stat.startTicks >= sinceTicks) members.add(stat)
    return [...members].filter(({ pid }) => pid !== process.pid)
  }

  #pass(): Pass {
    const bySession = new Map<number, ProcessStat[]>()
    const byMark = new Map<string, ProcessStat[]>()
    for (const stat of readProcesses()) {
      addTo(bySession, stat.session, stat)
      if (stat.startTicks >= this.#sinceTicks)
        for (const mark of readVariables(stat.pid, markNames)) addTo(byMark, mark, stat)
    }
    this.#sinceTicks = Number.POSITIVE_INFINITY
    return { bySession, byMark }
  }

  /** Sends a signal to those that are not in the process group. */
  async signalOutside(group: number, belonging: Belonging, signal: string | number): Promise<void> {
    for (const member of await this.membersOf(belonging)) if (member.group !== group) sendTo(member, signal)
  }

  /**
   * Waits until nothing but `spared` is left. After `patienceMillis` the members get SIGKILL, and again and again because a
   * member may be forking. Resolves with what was found at first. Rejects only when `signal` aborts.
   */
  async clear(
    belonging: Belonging,
    options: { patienceMillis: number; spared: number | null; signal: AbortSignal },
  ): Promise<readonly ProcessStat[]> {
    const deadline = performance.now() + options.patienceMillis
    let found: readonly ProcessStat[] | null = null
    for (let pause = 2; ; pause = Math.min(pause * 2, 200)) {
      const members = (await this.membersOf(belonging)).filter((member) => member.pid !== options.spared)
      found ??= members
      if (members.length === 0) return found
      const left = deadline - performance.now()
      if (left <= 0) for (const member of members) sendTo(member, 'SIGKILL')
      await wait(left > 0 ? Math.min(pause, left) : pause, undefined, { signal: options.signal })
    }
  }
}

/** The process may have ended meanwhile, and another may have got its number. */
function sendTo({ pid, startTicks }: ProcessStat, signal: string | number): void {
  if (isAlive(pid, startTicks)) send(pid, signal)
}

function send(target: number, signal: string | number): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    if (hasCode(error, 'ESRCH', 'EPERM')) return false
    throw error
  }
}
