import { watch } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** A log that is read while it grows is looked at again after this pause at the earliest. */
const pauseMillis = 20
/** Where the kernel has no watch left, or the directory is gone, it is looked at this often. */
const unwatchedMillis = 1_000

/**
 * Resolves when something may have changed in the directory, or after `mostMillis`. The kernel's watch begins before
 * `hasNews` is asked, so nothing that comes in between is missed.
 */
export async function untilChanged(
  directory: string,
  hasNews: () => boolean,
  mostMillis: number,
  signal: AbortSignal,
): Promise<void> {
  const changed = new AbortController()
  const end = AbortSignal.any([signal, changed.signal])
  let millis = mostMillis
  let watcher: ReturnType<typeof watch> | null = null
  try {
    watcher = watch(directory, { persistent: false }, () => changed.abort())
    watcher.on('error', () => changed.abort())
  } catch {
    millis = Math.min(mostMillis, unwatchedMillis)
  }
  try {
    if (!hasNews()) await wait(millis, undefined, { signal: end }).catch(() => undefined)
    await wait(pauseMillis, undefined, { signal }).catch(() => undefined)
  } finally {
    watcher?.close()
  }
}
