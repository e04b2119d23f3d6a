import { bounds } from '../../model/bounds.ts'
import { type LogAnswer, type LogQuestion, positionText } from '../../model/replicaLog.ts'
import { isReplicaName, type ReplicaName } from '../assignment.ts'
import { hasLog, withLog } from './logFiles.ts'
import { untilChanged } from './logGrowth.ts'
import type { LogMarks } from './logMarks.ts'
import { readLog } from './logReader.ts'
import type { ReplicaFiles } from './replicaFiles.ts'

/** At most so many readers wait for what comes; the others are answered at once. */
const mostWaiting = 256

/** Reads logs for those who ask, and watches a log only while somebody waits for what is written to it next. */
export class LogReading {
  readonly #files: ReplicaFiles
  readonly #marks: LogMarks
  readonly #isAlive: (replica: ReplicaName) => boolean
  #waiting = 0

  constructor(files: ReplicaFiles, marks: LogMarks, isAlive: (replica: ReplicaName) => boolean) {
    this.#files = files
    this.#marks = marks
    this.#isAlive = isAlive
  }

  /** A question with `waitSeconds` waits so long for an answer that has something new, or until `signal` aborts. */
  async answer(replica: ReplicaName, question: LogQuestion, signal: AbortSignal): Promise<LogAnswer> {
    if (!isReplicaName(replica)) return noLog
    const asked = { ...question, maxBytes: Math.min(question.maxBytes, bounds.logBytes.max) }
    let answer = this.#read(replica, asked)
    const until = performance.now() + question.waitSeconds * 1_000
    if (question.after === null || this.#waiting >= mostWaiting) return answer
    this.#waiting += 1
    try {
      const hasNews = () => isNews(this.#read(replica, asked))
      for (let left = until - performance.now(); left > 0 && !isNews(answer) && !signal.aborted; ) {
        await untilChanged(this.#files.directory(replica), hasNews, left, signal)
        answer = this.#read(replica, asked)
        left = until - performance.now()
      }
      return answer
    } finally {
      this.#waiting -= 1
    }
  }

  #read(replica: ReplicaName, question: LogQuestion): LogAnswer {
    const isAlive = this.#isAlive(replica)
    if (!isAlive && !hasLog(this.#files, replica)) return noLog
    // What nobody has looked at yet came before this moment.
    if (isAlive) this.#marks.markNow(replica)
    return withLog(this.#files, this.#marks, replica, (log) => readLog(log, question, !isAlive))
  }
}

function isNews({ state, runs, starts, skippedBytes }: LogAnswer): boolean {
  return state !== 'OPEN' || runs.length > 0 || starts.length > 0 || skippedBytes > 0
}

const noLog: LogAnswer = {
  state: 'NONE',
  runs: [],
  starts: [],
  truncated: false,
  skippedBytes: 0,
  position: positionText({ log: '00000000', start: 0, stdout: 0, stderr: 0 }),
}
