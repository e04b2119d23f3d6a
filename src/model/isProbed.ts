import type { Content } from './content.ts'

/** Says whether probes decide when a replica is ready. Without them it is ready when its process is confirmed (R9). */
export function isProbed({ startup, readiness }: Pick<Content, 'startup' | 'readiness'>): boolean {
  return startup !== null || readiness !== null
}
