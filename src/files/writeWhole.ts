import { renameSync, writeFileSync } from 'node:fs'

/** Writes a file that only its owner can read. A reader never sees half of it. Throws the system's error. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
