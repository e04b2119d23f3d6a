// Follows the endpoint of a service with the library graphql-ws and prints its addresses each time they change. After a break
// the library connects again, and goes on after the last revision that came, because it reads the variables anew.
//
//   npm install graphql graphql-ws ws
//   XCE_TOKEN=$(cat .xce/admin-token) node follow.mjs web
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

const url = (process.env.XCE_URL ?? 'http://127.0.0.1:4000/graphql').replace(/^http/, 'ws')
const client = createClient({
  url,
  webSocketImpl: WebSocket,
  connectionParams: { authorization: `Bearer ${process.env.XCE_TOKEN}` },
  retryAttempts: Number.POSITIVE_INFINITY,
  // Everything but a mistake of this program is tried again: 4413 is a slow reader, and other codes of 44xx are mistakes.
  shouldRetry: (event) => !(event?.code >= 4400 && event.code < 4500 && event.code !== 4413),
})

const variables = { service: { name: process.argv[2] }, after: null }
const query = `subscription Follow($service: ServiceReference!, $after: Revision) {
  endpointChanged(service: $service, after: $after) { kind revision endpoint { addresses { hostPort } } }
}`

for await (const { data, errors } of client.iterate({ query, variables })) {
  if (errors) throw new Error(errors[0].message)
  const { kind, revision, endpoint } = data.endpointChanged
  variables.after = revision
  console.log(`${kind}: ${endpoint.addresses.map(({ hostPort }) => hostPort).join(' ') || 'none'}`)
  if (kind === 'GONE') break
}
await client.dispose()
