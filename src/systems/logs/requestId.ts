const separator = '~'
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * The id of a request names the server that asks: the worker may answer at any server, also at one that has not heard
 * of the request yet.
 */
export function requestIdOf(server: string, number: string): string {
  return `${server}${separator}${number}`
}

/**
 * The server that asked; null when the text cannot be the id of a request. Workers send it and a channel is named by
 * it, so nothing but a UUID passes.
 */
export function askingServer(requestId: string): string | null {
  const [server = '', number = '', ...rest] = requestId.split(separator)
  return uuid.test(server) && uuid.test(number) && rest.length === 0 ? server : null
}
