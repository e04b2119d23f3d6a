import { setTimeout as wait } from 'node:timers/promises'

/** The first answer that is not null, undefined or false. Fails with `what` when there is none in time. */
export async function until<T>(probe: () => T | Promise<T>, what: string, seconds = 60): Promise<NonNullable<T>> {
  const deadline = performance.now() + seconds * 1_000
  for (;;) {
    const found = await probe()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`It did not happen within ${seconds} s: ${what}`)
    await wait(5)
  }
}
