// Serves on PORT until TERM, then closes and exits with 0. GET /env tells its environment and pid; GET /status/503 makes /health answer 503.
import { createServer } from 'node:http'

let status = 200
const server = createServer((request, response) => {
  const set = /^\/status\/(\d+)$/.exec(request.url)
  if (set) status = Number(set[1])
  if (request.url === '/health') response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ pid: process.pid, env: process.env, directory: process.cwd() }))
})
server.on('error', (error) => {
  console.error(error.message)
  process.exit(1)
})
server.listen(Number(process.env.PORT))
process.on('SIGTERM', () => {
  server.close(() => process.exit(0))
  server.closeIdleConnections()
})
