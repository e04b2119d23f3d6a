/** The sentence that says why a connection failed or ended, and what to do. */
export function connectFault(cause: unknown, tokenFile: string): string {
  if (typeof cause !== 'object' || cause === null) return `The connection failed: ${String(cause)}.`
  if ('code' in cause && typeof cause.code === 'number') {
    const reason =
      'reason' in cause && typeof cause.reason === 'string' && cause.reason !== '' ? ` ${cause.reason}` : ''
    return closeFault(cause.code, `${cause.code}${reason}`.replace(/\.$/, ''), tokenFile)
  }
  const message = 'message' in cause && typeof cause.message === 'string' ? cause.message : ''
  // A host name with several addresses yields an error with a code and without a message.
  const { code } = ('error' in cause ? cause.error : cause) as { readonly code?: unknown }
  if (message === '') return typeof code === 'string' ? `The connection failed: ${code}.` : 'The connection failed.'
  return openFault(message)
}

const advice = 'see whether it is the URL of a server, such as http://10.0.0.1:4000'

/** `code` is from the server, or from the GraphQL client itself. */
function closeFault(code: number, reason: string, tokenFile: string): string {
  switch (code) {
    case 1013:
      return `The token could not be checked there, as a rule because the server's database does not answer (${reason}): see its log.`
    case 4401:
      return `The token in ${tokenFile} is not known there (${reason}): copy a server's worker-token to that file.`
    case 4403:
      return `The token in ${tokenFile} is not taken there (${reason}): copy a server's worker-token to that file.`
    case 4504:
      return 'The server did not say whether it takes the token: it may be busy, or hang.'
    default:
      return `The server closed the connection (${reason}).`
  }
}

/** The connection failed before there was a WebSocket, with a message of the system, TLS or HTTP. */
function openFault(message: string): string {
  const status = /^Unexpected server response: (\d+)$/.exec(message)?.[1]
  if (status !== undefined) {
    const what = `There is no WebSocket: the answer is HTTP status ${status}`
    return status.startsWith('5') ? `${what}, from a server or proxy that can't serve now.` : `${what}: ${advice}.`
  }
  // The message of OpenSSL has several lines and names places in its source.
  if (message.includes('EPROTO'))
    return 'What answers does not speak HTTPS (EPROTO): a server speaks plain HTTP, so write http:// in the URL.'
  if (message === 'socket hang up' || message.includes('subprotocol') || message.startsWith('Parse Error'))
    return `There is no WebSocket of a server (${message}): ${advice}, and https:// where it is behind TLS.`
  return `The connection failed: ${message}.`
}
