import { hostNameFault } from '../model/name.ts'
import { type Greeting, serverProtocols } from '../model/workerProtocol.ts'
import type { ServerContext } from '../systems/serverContext.ts'
import type { SocketGate } from './webSockets.ts'

/** What workers are told when they connect. The log has those whose token is not known: a worker sends its name when it connects. */
export const workerGate: SocketGate = {
  greeting: greetingOf,
  refused: (app, { worker }, request) => {
    if (typeof worker !== 'string' || hostNameFault(worker) !== null) return
    const why =
      "Its token is not known here: copy this server's worker-token to the file that its XCE_WORKER_TOKEN_FILE names."
    app.workerRefusals.tell({ worker, address: request.socket.remoteAddress }, why)
  },
}

function greetingOf({ config: { leaseSeconds, graceSeconds } }: ServerContext): Greeting & Record<string, unknown> {
  return { workerProtocol: serverProtocols, workerLease: { leaseSeconds, graceSeconds } }
}
