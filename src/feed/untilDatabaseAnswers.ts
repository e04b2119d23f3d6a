import { setTimeout as wait } from 'node:timers/promises'
import { databaseErrorOf } from '../store/database/databaseErrors.ts'

const firstWaitMillis = 20
const longestWaitMillis = 2_000

/** Repeats `work` with growing pauses while the database does not answer. It rejects with any other error, and when `signal` aborts. */
export async function untilDatabaseAnswers<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waitMillis = firstWaitMillis; ; waitMillis = Math.min(longestWaitMillis, 2 * waitMillis)) {
    try {
      return await work()
    } catch (error) {
      if (databaseErrorOf(error) === null) throw error
      await wait(waitMillis, undefined, { signal })
    }
  }
}
