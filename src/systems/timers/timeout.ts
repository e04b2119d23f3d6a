/** Calls `ring` once after `millis`. The returned function cancels it. Tests pass their own and ring by hand. */
export type StartTimeout = (millis: number, ring: () => void) => () => void

export const startTimeout: StartTimeout = (millis, ring) => {
  const timeout = setTimeout(ring, millis)
  return () => clearTimeout(timeout)
}
