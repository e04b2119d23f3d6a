import { open, readFile, rename } from 'node:fs/promises'
import { createToken, findToken } from '../../store/access/tokens.ts'
import type { Database } from '../../store/database/database.ts'

/**
 * Makes sure that `file`, which only its owner can read, has a token that this database knows: a new one is made when
 * the file is missing or its token is from another database. Returns whether one was made. The file appears whole; a
 * crash before that leaves a token that nobody knows.
 */
export async function ensureToken(
  database: Database,
  file: string,
  holder: { readonly subject: string; readonly roles: readonly string[] },
): Promise<boolean> {
  const present = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (present !== '' && (await findToken(database, present)) !== null) return false
  const token = await createToken(database, { subject: holder.subject, roles: [...holder.roles] })
  const handle = await open(`${file}.new`, 'w', 0o600)
  try {
    await handle.write(`${token}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
  return true
}
