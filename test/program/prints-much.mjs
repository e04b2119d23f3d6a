// Writes numbered lines of 100 bytes until it has written argument 1 of them, then runs until it is ended.
import { writeSync } from 'node:fs'

const lines = Number(process.argv[2])
for (let from = 0; from < lines; from += 1_000) {
  const some = Array.from({ length: Math.min(1_000, lines - from) }, (_, index) =>
    `line ${from + index} `.padEnd(99, '.'),
  )
  writeSync(1, `${some.join('\n')}\n`)
}
writeSync(2, 'written\n')
setInterval(() => undefined, 1 << 30)
