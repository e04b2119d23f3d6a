/** Why a connection could not be made, or has ended, as a sentence that says what to do. */
export function connectFault(cause: unknown, tokenFile: string): string {
  if (typeof cause !== 'object' || cause === null) return `The connection failed: ${String(cause)}.`
  if ('code' in cause && typeof cause.code === 'number') {
    const reason =
      'reason' in cause && typeof cause.reason === 'string' && cause.reason !== '' ? ` ${cause.reason}` : ''
    return closeFault(cause.code, `${cause.code}${reason}`.replace(/\.$/, ''), tokenFile)
  }
  const message = 'message' in cause && typeof cause.message === 'string' ? cause.message : ''
  // Of a name with several addresses there is a code only.
  const { code } = ('error' in cause ? cause.error : cause) as { readonly code?: unknown }
  if (message === '') return typeof code === 'string' ? `The connection failed: ${code}.` : 'The connection failed.'
  return openFault(message)
}

const advice = 'see whether it is the URL of a server, with its path (/graphql)'

/** Closed by the server, or by the GraphQL client itself. */
function closeFault(code: number, said: string, tokenFile: string): string {
  switch (code) {
    case 1013:
      return `The token could not be checked there, as a rule because the server's database does not answer (${said}): see its log.`
    case 4401:
      return `The token in ${tokenFile} is not known there (${said}): copy a server's worker-token to that file.`
    case 4403:
      return `The token in ${tokenFile} is not taken there (${said}): copy a server's worker-token to that file.`
    case 4504:
      return 'The server did not say whether it takes the token: it may be busy, or hang.'
    default:
      return `The server closed the connection (${said}).`
  }
}

/** Before there was a WebSocket, by what the system, TLS or HTTP says. */
function openFault(message: string): string {
  const status = /^Unexpected server response: (\d+)$/.exec(message)?.[1]
  if (status !== undefined) {
    const what = `There is no WebSocket: the answer is HTTP status ${status}`
    return status.startsWith('5') ? `${what}, of a server or proxy that can't serve now.` : `${what}: ${advice}.`
  }
  // OpenSSL tells where in its source it was found, over several lines.
  if (message.includes('EPROTO'))
    return 'What answers does not speak HTTPS (EPROTO): a server speaks plain HTTP, so write http:// in the URL.'
  if (message === 'socket hang up' || message.includes('subprotocol') || message.startsWith('Parse Error'))
    return `There is no WebSocket of a server (${message}): ${advice}, and https:// where it is behind TLS.`
  return `The connection failed: ${message}.`
}
