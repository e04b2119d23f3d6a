import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrationsDirectory } from '../../src/store/migrate.ts'
import { built } from './built.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ReleaseChanges {
  /** Of this tree's migrations only these; left out: all. */
  readonly only?: readonly string[]
  /** Migrations that this tree does not have: their SQL by name. */
  readonly added?: Readonly<Record<string, string>>
  /** The protocol that its workers speak; its servers take all up to that. */
  readonly protocol?: number
}

/** A release as it is installed somewhere: programs, packages and migrations of its own. */
export class Release {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** This tree's build as a release with other migrations or another protocol. */
  static like({ only, added = {}, protocol }: ReleaseChanges): Release {
    const directory = mkdtempSync(path.join(tmpdir(), 'xce-release-'))
    cpSync(path.dirname(built('server.js')), path.join(directory, 'dist'), { recursive: true })
    cpSync(path.join(root, 'package.json'), path.join(directory, 'package.json'))
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'))
    const migrations = path.join(directory, 'prisma', 'migrations')
    mkdirSync(migrations, { recursive: true })
    const names = readdirSync(migrationsDirectory).filter((name) => only === undefined || only.includes(name))
    for (const name of names) cpSync(path.join(migrationsDirectory, name), path.join(migrations, name), { recursive: true })
    for (const [name, script] of Object.entries(added)) {
      mkdirSync(path.join(migrations, name))
      writeFileSync(path.join(migrations, name, 'migration.sql'), script)
    }
    if (protocol !== undefined) {
      const file = path.join(directory, 'dist', 'model', 'workerProtocol.js')
      const changed = readFileSync(file, 'utf8').replace(/workerProtocolVersion = \d+/, `workerProtocolVersion = ${protocol}`)
      writeFileSync(file, changed)
    }
    return new Release(directory)
  }

  /** What a commit or tag of this repository builds, with this tree's packages. */
  static of(ref: string): Release {
    const directory = mkdtempSync(path.join(tmpdir(), 'xce-release-'))
    const archive = execFileSync('git', ['archive', ref], { cwd: root, maxBuffer: 2 ** 28 })
    execFileSync('tar', ['-x', '-C', directory], { input: archive })
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'))
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: directory, stdio: 'ignore' })
    return new Release(directory)
  }

  program(name: string): string {
    return path.join(this.#directory, 'dist', name)
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** The newest tag that this tree comes after; null: there is none. XCE_TEST_UPGRADE_FROM names another commit. */
export function lastRelease(): string | null {
  const named = process.env['XCE_TEST_UPGRADE_FROM']
  if (named) return named
  try {
    return execFileSync('git', ['describe', '--tags', '--abbrev=0'], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return null
  }
}
