import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { until } from './until.ts'

const preload = new URL('../program/shifted-clock.mjs', import.meta.url).href

/** The wall clock of a child process, which a test sets. Its monotonic clock goes on as it is. */
export class ShiftedClock {
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'xce-clock-'))
  readonly #file = path.join(this.#directory, 'shift')
  readonly #seen = `${this.#file}.seen`

  /** Ahead by so many hours; behind where it is negative. */
  constructor(hours = 0) {
    this.#write(hours)
  }

  /** For the process. `uptime`: the time since the machine's start is shifted as well. */
  env({ uptime = false } = {}): NodeJS.ProcessEnv {
    return {
      NODE_OPTIONS: `--import ${preload}`,
      XCE_TEST_SHIFT_FILE: this.#file,
      ...(uptime ? { XCE_TEST_SHIFT_UPTIME: '1' } : {}),
    }
  }

  /** Steps the clock of a process that runs with this `env`, and waits until it has the new time. */
  async step(hours: number, signal: (name: NodeJS.Signals) => unknown): Promise<void> {
    this.order(hours, signal)
    await this.taken()
  }

  /** The same of a process that is stopped: it has the new time when it goes on. */
  order(hours: number, signal: (name: NodeJS.Signals) => unknown): void {
    rmSync(this.#seen, { force: true })
    this.#write(hours)
    signal('SIGWINCH')
  }

  async taken(): Promise<void> {
    await until(() => read(this.#seen) === read(this.#file), 'the process has the new time')
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #write(hours: number): void {
    writeFileSync(this.#file, String(hours * 3_600_000))
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
