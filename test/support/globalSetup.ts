import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/store/database.ts'
import { migrationsDirectory } from '../../src/store/migrate.ts'
import { startPostgreSQL } from './postgresqlServer.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A data directory with a migrated embedded database, to copy. */
    embeddedTemplate: string
    /** Of the database `postgres` on the test server. */
    postgresqlUrl: string
  }
}

/** The name of the migrated database that test databases are copies of. */
export const templateDatabase = 'xce_template'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = pino({ level: 'warn' })
  const [embeddedTemplate, server] = await Promise.all([makeEmbeddedTemplate(), startPostgreSQL()])
  await makePostgreSQLTemplate(server.url)
  project.provide('embeddedTemplate', embeddedTemplate)
  project.provide('postgresqlUrl', server.url)
  tellWhatIsLeft()
  return () => server.stop()

  async function makePostgreSQLTemplate(url: string): Promise<void> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`DROP DATABASE IF EXISTS "${templateDatabase}"`)
    await client.query(`CREATE DATABASE "${templateDatabase}"`)
    await client.end()
    const database = await openDatabase({ dataDirectory: tmpdir(), url: databaseUrl(url, templateDatabase), log })
    await database.close()
  }

  /** Making one takes seconds, so it is kept for the next run with the same migrations and packages. */
  async function makeEmbeddedTemplate(): Promise<string> {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const cache = path.join(root, 'node_modules', '.cache', 'xce-test')
    const template = path.join(cache, `embedded-${fingerprint(root)}`)
    if (existsSync(template)) return template
    mkdirSync(cache, { recursive: true })
    const fresh = mkdtempSync(path.join(cache, 'new-'))
    const database = await openDatabase({ dataDirectory: fresh, log })
    await database.close()
    try {
      renameSync(fresh, template)
    } catch {
      // Another run was faster.
      rmSync(fresh, { recursive: true, force: true })
    }
    return template
  }
}

/** What this suite leaves to longer ones, so that nobody takes it for all there is. */
function tellWhatIsLeft(): void {
  for (const [script, folder] of [
    ['test:long', 'long'],
    ['test:browser', 'browser'],
  ] as const) {
    const files = readdirSync(new URL(`../${folder}`, import.meta.url)).filter((name) => name.endsWith(`.${folder}.ts`))
    console.log(`Left to \`npm run ${script}\`: ${files.join(', ')}`)
  }
}

function fingerprint(root: string): string {
  const hash = createHash('sha256').update(
    readFileSync(path.join(root, 'node_modules', '@electric-sql', 'pglite', 'package.json')),
  )
  for (const name of readdirSync(migrationsDirectory, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.sql')) hash.update(name).update(readFileSync(path.join(migrationsDirectory, name)))
  }
  return hash.digest('hex').slice(0, 16)
}

export function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export function copyTemplate(template: string): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'xce-embedded-'))
  cpSync(template, directory, { recursive: true })
  return directory
}
