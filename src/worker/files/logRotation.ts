import { type FileHandle, open, rename, rm, truncate } from 'node:fs/promises'
import { hasCode } from '../../files/systemError.ts'

/** The size at which a log is rotated: 10 MiB. */
export const logBytes = 10 * 1_048_576

/**
 * Keeps a log at two files of at most `limit` bytes: copies its last `limit` bytes to `older` and truncates the file. The
 * writer has the file open for appending and goes on without being told; what it writes between the copy and the
 * truncation is lost. A log is checked every few seconds and may be larger in between. On a full disk the older part is
 * given up, and then the log itself, so that the writer can go on. Returns whether the log was rotated; throws the
 * system's error.
 */
export async function rotateLog(log: string, older: string, limit: number = logBytes): Promise<boolean> {
  const source = await open(log, 'r')
  try {
    const { size } = await source.stat()
    if (size < limit) return false
    await copyEnd(source, size, older, limit)
  } finally {
    await source.close()
  }
  await truncate(log, 0)
  return true
}

async function copyEnd(source: FileHandle, size: number, older: string, limit: number): Promise<void> {
  const copy = `${older}.new`
  try {
    await copyTo(copy, source, size, limit).catch(async (error: unknown) => {
      if (!isFull(error)) throw error
      await rm(older, { force: true })
      await copyTo(copy, source, size, limit)
    })
    await rename(copy, older)
  } catch (error) {
    await rm(copy, { force: true })
    if (!isFull(error)) throw error
  }
}

async function copyTo(copy: string, source: FileHandle, size: number, limit: number): Promise<void> {
  const target = await open(copy, 'w', 0o600)
  try {
    const buffer = Buffer.allocUnsafe(Math.min(limit, 1_048_576))
    for (let at = size - limit; at < size; ) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - at), at)
      if (bytesRead === 0) break
      await target.writeFile(buffer.subarray(0, bytesRead))
      at += bytesRead
    }
  } finally {
    await target.close()
  }
}

function isFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC', 'EDQUOT')
}
