import { setTimeout as wait } from 'node:timers/promises'
import { hasCode } from '../../files/systemError.ts'
import type { ProcessStat } from './processTable.ts'
import { readSessions } from './processTable.ts'

/** Sends a signal to a process group; false when the group is gone already. */
export function signalGroup(group: number, signal: string | number): boolean {
  // 0 and 1 would reach this worker's own group and every process of the user.
  return group > 1 && send(-group, signal)
}

/**
 * Ends everything that is left in sessions, also processes that left their process group. One pass over the process table
 * serves all callers that wait for one, so that a thousand replicas that end together cost a few passes.
 */
export class Sessions {
  #next: Promise<Map<number, ProcessStat[]>> | null = null

  /** The living members of a session, as they are after this call. */
  async membersOf(session: number): Promise<readonly ProcessStat[]> {
    this.#next ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#next = null
        try {
          resolve(readSessions())
        } catch (error) {
          reject(error)
        }
      })
    })
    return (await this.#next).get(session) ?? []
  }

  /**
   * Waits until nothing but `spared` lives in the session. After `patienceMillis` the members get SIGKILL, and again and
   * again because a member may be forking. Rejects only when `signal` aborts.
   */
  async clear(
    session: number,
    options: { patienceMillis: number; spared: number | null; signal: AbortSignal },
  ): Promise<void> {
    const deadline = performance.now() + options.patienceMillis
    for (let pause = 2; ; pause = Math.min(pause * 2, 200)) {
      const members = (await this.membersOf(session)).filter((member) => member.pid !== options.spared)
      if (members.length === 0) return
      const left = deadline - performance.now()
      if (left <= 0) for (const member of members) send(member.pid, 'SIGKILL')
      await wait(left > 0 ? Math.min(pause, left) : pause, undefined, { signal: options.signal })
    }
  }
}

function send(target: number, signal: string | number): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    if (hasCode(error, 'ESRCH', 'EPERM')) return false
    throw error
  }
}
