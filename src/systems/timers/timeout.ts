/** Rings once after a while. `ring` is not called any more after the returned function was. Tests ring by hand. */
export type StartTimeout = (millis: number, ring: () => void) => () => void

export const startTimeout: StartTimeout = (millis, ring) => {
  const timeout = setTimeout(ring, millis)
  return () => clearTimeout(timeout)
}
