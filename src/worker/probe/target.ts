import type { AllocatedPort, ProbeAction } from '../../model/content.ts'
import { probeCommand } from './command.ts'
import { probeHttp } from './http.ts'
import { probeTcp } from './tcp.ts'

/** One probe: null when it succeeded, else why not as a part of a sentence. Never rejects; an aborted one tells anything. */
export type Check = (signal: AbortSignal) => Promise<string | null>

/** Where and how a replica is probed: over its host's primary address, as its clients reach it. */
export interface ProbeTarget {
  readonly address: string
  readonly ports: readonly AllocatedPort[]
  readonly environment: Readonly<Record<string, string>>
  readonly workingDirectory: string
}

export function checkOf(action: ProbeAction, timeoutSeconds: number, target: ProbeTarget): Check {
  const timeoutMillis = timeoutSeconds * 1_000
  if (action.kind === 'exec') return (signal) => probeCommand(action.command, target, timeoutMillis, signal)
  const port = target.ports.find((candidate) => candidate.name === action.port)?.port
  if (port === undefined) return async () => `the port "${action.port}" is not declared`
  if (action.kind === 'tcp') return (signal) => probeTcp(target.address, port, timeoutMillis, signal)
  return (signal) => probeHttp(target.address, port, action.path, timeoutMillis, signal)
}
