import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'

/**
 * A disk of a few hundred KiB at a directory, which a test can fill. Only root may mount one; for others the directories are made unwritable instead,
 * which programs meet in the same places.
 */
export class SmallDisk {
  readonly #directory: string
  readonly #mounted: boolean

  private constructor(directory: string, mounted: boolean) {
    this.#directory = directory
    this.#mounted = mounted
  }

  /** Null: root may not mount here, and no directory is unwritable for root. */
  static make(directory: string): SmallDisk | null {
    mkdirSync(directory, { recursive: true })
    if (process.getuid?.() !== 0) return new SmallDisk(directory, false)
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', directory])
    return status === 0 ? new SmallDisk(directory, true) : null
  }

  /** To the last byte. */
  fill(): void {
    if (!this.#mounted) {
      this.#change(0o500)
      return
    }
    const file = openSync(path.join(this.#directory, 'filler'), 'w')
    try {
      for (const bytes of [4_096, 1]) for (;;) if (!writes(file, bytes)) break
    } finally {
      closeSync(file)
    }
  }

  free(): void {
    if (this.#mounted) rmSync(path.join(this.#directory, 'filler'))
    else this.#change(0o700)
  }

  /** Also while something still uses it. */
  remove(): void {
    if (this.#mounted) execFileSync('umount', ['--lazy', this.#directory])
    else this.#change(0o700)
  }

  #change(mode: number): void {
    const directories = readdirSync(this.#directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const { parentPath, name } of directories) chmodSync(path.join(parentPath, name), mode)
  }
}

function writes(file: number, bytes: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(bytes)) === bytes
  } catch {
    return false
  }
}
