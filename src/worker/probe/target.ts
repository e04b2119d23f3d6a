import type { AllocatedPort, ProbeAction } from '../../model/content.ts'
import { type CommandContext, probeCommand } from './command.ts'
import { probeHttp } from './http.ts'
import { probeTcp } from './tcp.ts'

/**
 * One probe: resolves with null when it succeeded, otherwise with the reason as a part of a sentence. It never rejects.
 * The result of an aborted probe means nothing.
 */
export type Check = (signal: AbortSignal) => Promise<string | null>

/** A replica is probed at its host's primary address, because its clients reach it there. */
export interface ProbeTarget extends CommandContext {
  readonly address: string
  readonly ports: readonly AllocatedPort[]
}

export function checkOf(action: ProbeAction, timeoutSeconds: number, target: ProbeTarget): Check {
  const timeoutMillis = timeoutSeconds * 1_000
  if (action.kind === 'exec') return (signal) => probeCommand(action.command, target, timeoutMillis, signal)
  const port = target.ports.find((candidate) => candidate.name === action.port)?.port
  if (port === undefined) return async () => `the port "${action.port}" is not declared`
  if (action.kind === 'tcp') return (signal) => probeTcp(target.address, port, timeoutMillis, signal)
  return (signal) => probeHttp(action, target.address, port, timeoutMillis, signal)
}
