// npm run soak -- --minutes N [--seed S]: see `help`.
import { parseArgs } from 'node:util'
import { startPostgreSQL } from '../support/fixtures/postgresqlServer.ts'
import { runSoak, type SoakOptions } from './runSoak.ts'
import { progressLine, summary } from './telling.ts'

const help = `npm run soak -- --minutes N [--seed S]

Runs real servers on one PostgreSQL and real workers, changes services and hosts at random, kills and freezes servers, workers and replicas at
random, and checks all the time that no invariant is broken, no acknowledged mutation is lost and no subscriber is told what is not so.

  --minutes N    how long (1); then everything has to come to rest
  --seed S       the same choices again (another one each time); what the machine does in between differs
  --servers N    (2)
  --workers N    workers, each on a host of its own, but for the last two of four or more (4)
  --services N   (6), with up to 6 replicas each

PostgreSQL is brought along, or DATABASE_URL names a server: the soak makes a database of its own there, and drops it.

Exit status: 0 nothing was wrong; 1 something was: the seed and the directory with the logs are printed; 2 the words are not understood.
`

async function main(words: string[]): Promise<number> {
  const read = options(words)
  if (typeof read === 'string') {
    process.stderr.write(`${read}\n\n${help}`)
    return 2
  }
  if (read === null) {
    process.stdout.write(help)
    return 0
  }
  const given = process.env['DATABASE_URL']
  const postgresql = given ? null : await startPostgreSQL()
  try {
    console.log(
      `Seed ${read.seed}: ${read.minutes} min, ${read.servers} servers, ${read.workers} workers, ${read.services} services.`,
    )
    const serverUrl = given || (postgresql?.url ?? '')
    const result = await runSoak({ ...read, serverUrl, onProgress: (progress) => console.log(progressLine(progress)) })
    const { text, failed } = summary(read, result)
    console.log(`\n${text}`)
    return failed ? 1 : 0
  } finally {
    await postgresql?.stop()
  }
}

/** Null: help is wanted. A sentence: what is not understood. */
function options(words: string[]): Omit<SoakOptions, 'serverUrl' | 'onProgress'> | string | null {
  const number = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      args: words.filter((word) => word !== '--'),
      options: {
        minutes: number,
        seed: number,
        servers: number,
        workers: number,
        services: number,
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (values.help) return null
    const read = {
      minutes: Number(values.minutes ?? 1),
      seed: Number(values.seed ?? Math.floor(Math.random() * 1_000_000)),
      servers: Number(values.servers ?? 2),
      workers: Number(values.workers ?? 4),
      services: Number(values.services ?? 6),
    }
    const wrong = Object.entries(read).find(
      ([name, value]) => !(value > 0 && (name === 'minutes' || Number.isInteger(value))),
    )
    return wrong === undefined ? read : `--${wrong[0]} takes a number above 0.`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

process.exitCode = await main(process.argv.slice(2))
