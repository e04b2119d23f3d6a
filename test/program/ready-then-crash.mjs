// Serves on PORT, and exits with 7 as soon as it has answered one request.
import { createServer } from 'node:http'

const server = createServer((_request, response) => {
  response.end('ready')
  response.on('close', () => process.exit(7))
})
server.listen(Number(process.env.PORT))
