import { type FileHandle, open, rename, rm, truncate } from 'node:fs/promises'
import { hasCode } from '../../files/systemError.ts'
import { logBytes } from './logBounds.ts'

/**
 * Keeps a log at two files of at most `limit` bytes: copies its last `limit` bytes to `older` and truncates the file. The
 * writer has the file open for appending and goes on without being told; what it writes between the copy and the
 * truncation is lost. A log is larger in between than `limit`, because nobody looks at every byte. On a full disk the
 * older part is given up, and then the log itself, so that the writer can go on. Returns the size that the log had when
 * it was rotated, and null when it was not; throws the system's error.
 */
export async function rotateLog(log: string, older: string, limit: number = logBytes): Promise<number | null> {
  const source = await open(log, 'r')
  let size: number
  try {
    size = (await source.stat()).size
    if (size < limit) return null
    await copyEnd(source, size, older, limit)
  } finally {
    await source.close()
  }
  await truncate(log, 0)
  return size
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
