import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'
import type { TestProjectInlineConfiguration } from 'vitest/config'

// The suite has three projects, by what has to run before a test begins: nothing, a database, or a database and compiled
// programs. The imports of a test file decide its project, so that a test which begins to use a database moves automatically.
// Of the tests of compiled programs, `npm test` runs only the one of upgrades, as a project of its own; the others take as
// long as all the rest together, and `npm run test:programs` runs them.

const root = fileURLToPath(new URL('../..', import.meta.url))
const fixtures = path.join(root, 'test/support/fixtures')

/** A test that imports one of these opens databases, or runs compiled programs. */
const databases = new Set([path.join(fixtures, 'globalSetup.ts'), 'pg', '@electric-sql/pglite'])
const programs = new Set([path.join(fixtures, 'built.ts')])
const upgrade = path.join(root, 'test/server/upgrade.test.ts')

export function testProjects(): TestProjectInlineConfiguration[] {
  const files = { pure: [] as string[], database: [] as string[], program: [] as string[], upgrade: [] as string[] }
  for (const file of testFiles()) files[projectOf(file)].push(path.relative(root, file))
  return [
    {
      extends: true,
      // A test that reaches a database in a way that `projectOf` does not see, such as through src/, fails with a sentence.
      resolve: {
        alias: ['pg', '@electric-sql/pglite', '@prisma/adapter-pg'].map((name) => ({
          find: name,
          replacement: path.join(fixtures, 'noDatabase.ts'),
        })),
      },
      test: { name: 'pure', include: files.pure },
    },
    {
      extends: true,
      test: { name: 'database', include: files.database, globalSetup: ['test/support/fixtures/globalSetup.ts'] },
    },
    ...(['program', 'upgrade'] as const).map(
      (name): TestProjectInlineConfiguration => ({
        extends: true,
        test: {
          name,
          include: files[name],
          globalSetup: ['test/support/fixtures/globalSetup.ts', 'test/support/fixtures/buildSetup.ts'],
        },
      }),
    ),
  ]
}

function testFiles(): string[] {
  const names = readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => path.join(root, 'test', name))
}

function projectOf(file: string): 'pure' | 'database' | 'program' | 'upgrade' {
  if (file === upgrade) return 'upgrade'
  const reached = reachedFrom(file)
  const reaches = (some: ReadonlySet<string>) => [...some].some((name) => reached.has(name))
  if (reaches(programs)) return 'program'
  return reaches(databases) ? 'database' : 'pure'
}

/** Returns the files that a test file imports when it runs, directly or through others in test/, and their packages. */
function reachedFrom(file: string): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [file]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const found of importsOf(next)) {
      if (reached.has(found)) continue
      reached.add(found)
      if (found.startsWith(path.join(root, 'test/')) && existsSync(found)) waiting.push(found)
    }
  }
  return reached
}

const known = new Map<string, readonly string[]>()

/** Returns what a module imports when it runs, without types: files by path, packages by name. */
function importsOf(file: string): readonly string[] {
  const before = known.get(file)
  if (before !== undefined) return before
  const text = readFileSync(file, 'utf8')
  const { staticImports, staticExports, dynamicImports } = parseSync(file, text).module
  const names = [
    ...staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) => (moduleRequest && !isType ? [moduleRequest.value] : [])),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ]
  const found = names.map((name) => (name.startsWith('.') ? path.join(path.dirname(file), name) : name))
  known.set(file, found)
  return found
}
