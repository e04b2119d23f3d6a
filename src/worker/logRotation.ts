import { open, rename, truncate } from 'node:fs/promises'

export const logBytes = 10 * 1_048_576

/**
 * Keeps a log at two files of at most `limit` bytes: its last `limit` bytes are copied to `older` and the file is cut to nothing. The writer
 * goes on with the file it has open for appending, so it need not be told; what it writes between the copy and the cut is lost. A log is
 * looked at every few seconds and may be larger in between. Answers whether it was rotated.
 */
export async function rotateLog(log: string, older: string, limit: number = logBytes): Promise<boolean> {
  const source = await open(log, 'r')
  try {
    const { size } = await source.stat()
    if (size < limit) return false
    const target = await open(`${older}.new`, 'w', 0o600)
    try {
      const buffer = Buffer.allocUnsafe(Math.min(limit, 1_048_576))
      for (let at = size - limit; at < size; ) {
        const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - at), at)
        if (bytesRead === 0) break
        await target.write(buffer, 0, bytesRead)
        at += bytesRead
      }
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
  await rename(`${older}.new`, older)
  await truncate(log, 0)
  return true
}
