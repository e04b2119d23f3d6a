import { readFileSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import pretty from 'pino-pretty'
import { ConfigError, readConfig } from '../config/config.ts'
import type { TransferTarget } from '../store/transfer/connect.ts'
import { readWords } from './commandLine.ts'

/** The version of this product. */
export const softwareVersion = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }
).version

/** Runs a tool that takes one file, on the database that the server's settings name. Sets the exit status. */
export async function runFileTool(
  usage: string,
  run: (file: string, target: TransferTarget, log: Logger) => Promise<string>,
): Promise<void> {
  const [file] = readWords(usage, 1) ?? []
  if (file !== undefined) await runOnDatabase((target, log) => run(file, target, log))
}

/** Runs a tool that takes no words, on the database that the server's settings name. Sets the exit status. */
export async function runDatabaseTool(
  usage: string,
  run: (target: TransferTarget, log: Logger) => Promise<string>,
): Promise<void> {
  if (readWords(usage, 0) !== null) await runOnDatabase(run)
}

async function runOnDatabase(run: (target: TransferTarget, log: Logger) => Promise<string>): Promise<void> {
  try {
    const { config } = readConfig(process.env)
    const log = pino({ level: 'info' }, pretty({ sync: true, ignore: 'pid,hostname', destination: 2 }))
    console.log(await run({ dataDirectory: config.dataDirectory, url: config.databaseUrl }, log))
  } catch (error) {
    for (const mistake of error instanceof ConfigError ? error.mistakes : [sentence(error)]) console.error(mistake)
    process.exitCode = 1
  }
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? `${error.name}: the database does not answer.` : error.message
}
