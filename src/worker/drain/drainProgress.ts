import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { writeWhole } from '../../files/writeWhole.ts'
import { readStat } from '../machine/processTable.ts'

const lookMillis = 100

interface Progress {
  /** Of the process that drains. */
  readonly pid: number
  readonly sentence: string
  readonly done: boolean
}

function fileOf(stateDirectory: string): string {
  return path.join(stateDirectory, 'drain.json')
}

/** A worker's own word on its drain, for `--drain` in another terminal. */
export class DrainProgress {
  readonly #file: string
  #sentence = ''

  constructor(stateDirectory: string) {
    this.#file = fileOf(stateDirectory)
  }

  write(sentence: string): void {
    this.#sentence = sentence
    this.#write(false)
  }

  writeDone(): void {
    this.#write(true)
  }

  #write(done: boolean): void {
    const progress: Progress = { pid: process.pid, sentence: this.#sentence, done }
    try {
      writeWhole(this.#file, JSON.stringify(progress))
    } catch {
      // The disk takes nothing: whoever follows sees less.
    }
  }
}

/**
 * Asks the worker with this process id, which has the state directory, to move its replicas, and shows how far that is until it has ended. The exit
 * status: 0 when all has moved. `leave` ends the watching, not the drain.
 */
export async function watchDrain(
  stateDirectory: string,
  pid: number,
  leave: AbortSignal,
  show: (sentence: string) => void,
): Promise<number> {
  if (!ask(pid)) {
    show(`The worker with process id ${pid} can't be asked to move its replicas: it has ended, or is another user's.`)
    return 1
  }
  let shown = ''
  for (;;) {
    // Looked at first: what it wrote last is read after its end.
    const lives = readStat(pid)?.dead === false
    const progress = read(stateDirectory)
    if (progress?.pid === pid && progress.sentence !== shown) {
      shown = progress.sentence
      show(shown)
    }
    if (!lives) {
      const done = progress?.pid === pid && progress.done
      show(
        done
          ? `The worker with process id ${pid} has ended.`
          : 'The worker has ended before all replicas had moved: they run on.',
      )
      return done ? 0 : 1
    }
    await wait(lookMillis, undefined, { signal: leave }).catch(() => undefined)
    if (leave.aborted) {
      show('The drain goes on without being watched.')
      return 1
    }
  }
}

function read(stateDirectory: string): Progress | null {
  try {
    return JSON.parse(readFileSync(fileOf(stateDirectory), 'utf8')) as Progress
  } catch {
    return null
  }
}

/** False: there is no such process, or none that this one may ask. */
function ask(pid: number): boolean {
  try {
    process.kill(pid, 'SIGQUIT')
    return true
  } catch {
    return false
  }
}
