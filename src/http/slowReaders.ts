import type { ServerContext } from '../systems/serverContext.ts'

/** The server's budget for what waits for slow readers, and a connection that counts in it while it takes nothing. */
export type WaitingBytes = ServerContext['feed']['waiting']
export type FullStream = Parameters<WaitingBytes['full']>[0]
