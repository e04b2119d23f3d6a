import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { until } from './until.ts'

/** A file system of its own that can be filled: a tmpfs, which only root may mount. */
export class SmallDisk {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'xce-disk-'))

  private constructor(mebibytes: number) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', this.directory], { stdio: 'pipe' })
  }

  /** Null where this user may not mount. */
  static mount(mebibytes: number): SmallDisk | null {
    if (process.getuid?.() !== 0) return null
    try {
      return new SmallDisk(mebibytes)
    } catch {
      return null
    }
  }

  /** Writes until so many mebibytes are free; none: until nothing fits any more. */
  fill(leave = 0): void {
    const file = openSync(this.#filler, 'a')
    const block = Buffer.alloc(65_536, 1)
    const free = () => {
      const { bavail, bsize } = statfsSync(this.directory)
      return bavail * bsize
    }
    try {
      while (leave === 0 || free() > leave * 1_048_576) writeSync(file, block)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    } finally {
      closeSync(file)
    }
  }

  /** Gives back what `fill` took. */
  free(): void {
    rmSync(this.#filler, { force: true })
  }

  /** A process that was killed holds its files for a moment longer than it is seen. */
  async unmount(): Promise<void> {
    await until(() => this.#isUnmounted(), `nobody uses ${this.directory}`)
    rmdirSync(this.directory)
  }

  #isUnmounted(): boolean {
    try {
      execFileSync('umount', [this.directory], { stdio: 'pipe' })
      return true
    } catch {
      return false
    }
  }

  get #filler(): string {
    return path.join(this.directory, 'filler')
  }
}
