/** Words the error of a connection. Several addresses that all fail make an error without a message. */
export function reasonOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : null
  // The messages of OpenSSL are lines of its source.
  if (code?.startsWith('ERR_SSL_') === true) return `no TLS connection could be made (${code})`
  return error.message || (code ?? error.name)
}
