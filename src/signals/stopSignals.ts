/**
 * A signal to a process group reaches a program twice when npm started it: once itself, and milliseconds later as npm hands it on. Nobody who means
 * "now, at once" sends two of them within this time.
 */
const sameSignalMillis = 1_000

/** Calls `first` at the first of these signals, and `again` at any that comes a second after that or later. */
export function onStopSignals(
  signals: readonly NodeJS.Signals[],
  { first, again }: { first: (signal: NodeJS.Signals) => void; again: (signal: NodeJS.Signals) => void },
): void {
  let firstAt: number | null = null
  const heed = (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (firstAt === null) {
      firstAt = now
      first(signal)
    } else if (now - firstAt >= sameSignalMillis) again(signal)
  }
  for (const signal of signals) process.on(signal, heed)
}
