import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrationsDirectory } from '../../src/store/migrate.ts'
import { built } from './built.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface ReleaseChanges {
  /** Migrations that this tree does not have: their SQL by name. */
  readonly added?: Readonly<Record<string, string>>
  /** The protocol that its workers speak; its servers take all up to that. */
  readonly protocol?: number
}

/** The commit before hosts had several workers: what the story of an upgrade begins with until there is a tag. */
const beforeSeveralWorkers = '9f9fa778067aa9447a9ab4e5a158a3d234fa1062'

/** A release as it is installed somewhere: programs, packages and migrations of its own. */
export class Release {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** This tree's build as a release with other migrations or another protocol. */
  static like({ added = {}, protocol }: ReleaseChanges): Release {
    const directory = mkdtempSync(path.join(tmpdir(), 'xce-release-'))
    cpSync(path.dirname(built('server.js')), path.join(directory, 'dist'), { recursive: true })
    cpSync(path.join(root, 'package.json'), path.join(directory, 'package.json'))
    symlinkSync(path.join(root, 'node_modules'), path.join(directory, 'node_modules'))
    const migrations = path.join(directory, 'prisma', 'migrations')
    cpSync(migrationsDirectory, migrations, { recursive: true })
    for (const [name, script] of Object.entries(added)) {
      mkdirSync(path.join(migrations, name))
      writeFileSync(path.join(migrations, name, 'migration.sql'), script)
    }
    if (protocol !== undefined) {
      const file = path.join(directory, 'dist', 'model', 'workerProtocol.js')
      const changed = readFileSync(file, 'utf8').replace(
        /workerProtocolVersion = \d+/,
        `workerProtocolVersion = ${protocol}`,
      )
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

  /** The one that upgrades begin with; says on standard output which that is. A clone without history has this tree's only. */
  static before(): Release {
    const ref = process.env['XCE_TEST_UPGRADE_FROM'] || lastTag() || beforeSeveralWorkers
    const isThisTree = ref === beforeSeveralWorkers && git('cat-file', '-e', `${ref}^{commit}`) === null
    console.log(
      isThisTree
        ? `The old release is this tree's build: this clone does not have ${ref}.`
        : `The old release is ${ref}.`,
    )
    return isThisTree ? Release.like({}) : Release.of(ref)
  }

  program(name: string): string {
    return path.join(this.#directory, 'dist', name)
  }

  /** The names of its migrations, in order. */
  get migrations(): readonly string[] {
    const entries = readdirSync(path.join(this.#directory, 'prisma', 'migrations'), { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** The newest tag that this tree comes after; null: there is none. */
function lastTag(): string | null {
  return git('describe', '--tags', '--abbrev=0')
}

/** What git says of this tree; null: it fails. */
function git(...words: string[]): string | null {
  try {
    return execFileSync('git', words, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return null
  }
}
