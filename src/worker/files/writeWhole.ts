import { renameSync, writeFileSync } from 'node:fs'

/** Writes a file for its owner only; who reads it never sees half of it. Throws what the system says. */
export function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
