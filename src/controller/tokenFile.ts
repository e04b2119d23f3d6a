import { access, open, rename } from 'node:fs/promises'

/**
 * Writes the token that `make` gives to `file`, readable by its owner only, unless the file is there. Returns whether it was written. The
 * file appears whole: a crash before that leaves a token that nobody knows, and the next start makes another.
 */
export async function ensureTokenFile(file: string, make: () => Promise<string>): Promise<boolean> {
  try {
    await access(file)
    return false
  } catch {
    const token = await make()
    const fresh = `${file}.new`
    const handle = await open(fresh, 'w', 0o600)
    try {
      await handle.write(`${token}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(fresh, file)
    return true
  }
}
