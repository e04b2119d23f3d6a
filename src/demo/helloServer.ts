// The example replica is a small HTTP server that says which replica it is. It learns everything from its environment, so
// it runs under any worker.
import { createServer } from 'node:http'

const { PORT, XCE_SERVICE, XCE_REPLICA_INDEX, XCE_REPLICA_ID, XCE_VERSION } = process.env

const server = createServer((request, response) => {
  if (request.url === '/healthz') {
    response.end('ok\n')
    return
  }
  const answer = {
    service: XCE_SERVICE,
    index: Number(XCE_REPLICA_INDEX),
    version: Number(XCE_VERSION),
    replica: XCE_REPLICA_ID,
    pid: process.pid,
  }
  response.setHeader('content-type', 'application/json')
  response.end(`${JSON.stringify(answer)}\n`)
})

server.listen(Number(PORT), () => console.log(`${XCE_SERVICE}[${XCE_REPLICA_INDEX}] listens on port ${PORT}`))

process.on('SIGTERM', () => {
  console.log('asked to stop: finishing open requests')
  server.close(() => process.exit(0))
  server.closeIdleConnections()
})
