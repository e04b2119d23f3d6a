import { createServer } from 'node:net'

/** A port that nobody has now, outside of the range that the system gives to connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 8_000)
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, () => server.close(() => resolve(true)))
    })
    if (free) return port
  }
}
