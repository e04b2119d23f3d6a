import { renameSync, truncateSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { hasCode } from '../../files/systemError.ts'
import { logBytes } from './logBounds.ts'

/**
 * Keeps a log at two files of at most `limit` bytes: copies its last `limit` bytes to `older` and truncates the file. The
 * writer has the file open for appending and goes on without being told; what it writes between the copy and the
 * truncation is lost. A log is larger in between than `limit`, because nobody looks at every byte. On a full disk the
 * older part is given up, and then the log itself, so that the writer can go on. `turned` is called with the size that the
 * log had, in the moment of the rotation: nobody who reads both files at once can see them half rotated. It is not called
 * when the log is not full. Throws the system's error.
 */
export async function rotateLog(
  log: string,
  older: string,
  turned: (size: number) => void,
  limit: number = logBytes,
): Promise<void> {
  const source = await open(log, 'r')
  try {
    const { size } = await source.stat()
    if (size < limit) return
    const copy = `${older}.new`
    const isCopied = await copyEnd(copy, source, size, older, limit)
    if (isCopied) renameSync(copy, older)
    truncateSync(log, 0)
    turned(size)
  } finally {
    await source.close()
  }
}

/** Resolves with false when the disk is full. */
async function copyEnd(copy: string, source: FileHandle, size: number, older: string, limit: number): Promise<boolean> {
  try {
    await copyTo(copy, source, size, limit).catch(async (error: unknown) => {
      if (!isFull(error)) throw error
      await rm(older, { force: true })
      await copyTo(copy, source, size, limit)
    })
    return true
  } catch (error) {
    await rm(copy, { force: true })
    if (!isFull(error)) throw error
    return false
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
