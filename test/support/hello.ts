import { built } from './built.ts'

/** The example replica: an HTTP server on one port, which says who it is. */
export const helloCommand = (): readonly string[] => [process.execPath, built('examples/helloServer.js')]

export const helloReadiness = { http: { port: 'http', path: '/healthz' }, periodSeconds: 1 }

/** Of the example replica: a readiness probe, and no drain, so that it ends at once. */
export function helloProfile(over: Record<string, unknown> = {}): Record<string, unknown> {
  return { command: helloCommand(), readiness: helloReadiness, stop: { drainSeconds: 0, graceSeconds: 10 }, ...over }
}
