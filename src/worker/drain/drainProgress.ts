import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { writeWhole } from '../../files/writeWhole.ts'
import { readStat } from '../machine/processTable.ts'

const checkMillis = 100

interface Progress {
  /** The process id of the worker that drains. */
  readonly pid: number
  readonly sentence: string
  readonly done: boolean
}

function fileOf(stateDirectory: string): string {
  return path.join(stateDirectory, 'drain.json')
}

/** The file in which a worker writes the progress of its drain, for `--drain` in another terminal. */
export class DrainProgress {
  readonly #file: string
  #sentence = ''

  constructor(stateDirectory: string) {
    this.#file = fileOf(stateDirectory)
  }

  write(sentence: string): void {
    this.#sentence = sentence
    this.#writeFile(false)
  }

  writeDone(): void {
    this.#writeFile(true)
  }

  #writeFile(done: boolean): void {
    const progress: Progress = { pid: process.pid, sentence: this.#sentence, done }
    try {
      writeWhole(this.#file, JSON.stringify(progress))
    } catch {
      // When the disk refuses the file, whoever follows the drain sees less.
    }
  }
}

/**
 * Asks the worker with this process id, which uses the state directory, to move its replicas, and shows the progress until
 * the worker has ended. Returns the exit status, which is 0 when all replicas have moved. `leave` ends the watching, not
 * the drain.
 */
export async function watchDrain(
  stateDirectory: string,
  pid: number,
  leave: AbortSignal,
  show: (sentence: string) => void,
): Promise<number> {
  if (!requestDrain(pid)) {
    show(
      `The worker with process id ${pid} can't be asked to move its replicas: it has ended, or it belongs to another user.`,
    )
    return 1
  }
  let shown = ''
  for (;;) {
    // The process is checked before the file, so that what it wrote last is read after its end.
    const isRunning = readStat(pid)?.dead === false
    const progress = readProgress(stateDirectory)
    if (progress?.pid === pid && progress.sentence !== shown) {
      shown = progress.sentence
      show(shown)
    }
    if (!isRunning) {
      const done = progress?.pid === pid && progress.done
      show(
        done
          ? `The worker with process id ${pid} has ended.`
          : 'The worker has ended before all replicas had moved: they run on.',
      )
      return done ? 0 : 1
    }
    await wait(checkMillis, undefined, { signal: leave }).catch(() => undefined)
    if (leave.aborted) {
      show('The drain goes on without being watched.')
      return 1
    }
  }
}

function readProgress(stateDirectory: string): Progress | null {
  try {
    return JSON.parse(readFileSync(fileOf(stateDirectory), 'utf8')) as Progress
  } catch {
    return null
  }
}

/** False when there is no such process, or when this user may not signal it. */
function requestDrain(pid: number): boolean {
  try {
    process.kill(pid, 'SIGQUIT')
    return true
  } catch {
    return false
  }
}
