/**
 * The WebSocket of the worker's protocol at a server. Operators name a server by its address alone or by the URL of its API, also behind a path of
 * a proxy; any other path is taken as it is.
 */
export function workerUrl(server: string): string {
  const url = new URL(server)
  url.pathname = url.pathname === '/' ? '/worker' : url.pathname.replace(/\/graphql\/?$/, '/worker')
  return url.href.replace(/^http/, 'ws')
}
