import { readFileSync } from 'node:fs'
import { cruise } from 'dependency-cruiser'
import { FailedError, isProgram, root, runMain } from '../../src/tools/project.mjs'
import { rooms } from './rooms.mjs'

// `npm run lint:layers` checks that the table in test/lint/rooms.mjs allows every import in src/, and that no files import
// each other in a circle.

const names = Object.keys(rooms)

/** @param {string} text */
const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * A pattern for the files of a room, without those of its sub-rooms that have a line of their own.
 * @param {string} room
 */
function filesOf(room) {
  if (room.endsWith('.ts')) return `^src/${quoted(room)}$`
  const within = names.filter((name) => name.startsWith(`${room}/`)).map((name) => name.slice(room.length + 1))
  const others = within.map((name) => `${quoted(name)}${name.endsWith('.ts') ? '$' : '/'}`)
  return `^src/${quoted(room)}/${others.length === 0 ? '' : `(?!${others.join('|')})`}`
}

/**
 * A pattern for the files that an entry of the table allows.
 * @param {string} entry
 */
const filesAllowedBy = (entry) => (entry.endsWith('/**') ? `^src/${quoted(entry.slice(0, -3))}/` : filesOf(entry))

/**
 * A pattern for a package's files. Node's modules are the ones that were found and are not files.
 * @param {string} entry
 */
const packageAllowedBy = (entry) =>
  entry === 'node:' ? '^(?!src/|test/|node_modules/)' : `^node_modules/(@types/)?${quoted(entry)}/`

/**
 * One rule for each room refuses everything that is not listed.
 * @type {import('dependency-cruiser').IForbiddenRuleType[]}
 */
const ofRooms = Object.entries(rooms).map(([room, { rooms: others, packages }]) => ({
  name: room,
  severity: 'error',
  from: { path: filesOf(room) },
  to: {
    pathNot: [filesOf(room), ...others.map(filesAllowedBy), ...packages.map(packageAllowedBy)],
  },
}))

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
const rules = [
  ...ofRooms,
  { name: 'not found', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
  { name: 'circle', severity: 'error', from: { path: '^src/', pathNot: '^src/generated/' }, to: { circular: true } },
]

/** Returns the mistakes in the table itself. */
function tableMistakes() {
  return Object.entries(rooms).flatMap(([room, { rooms: others }], at) =>
    others.flatMap((other) => {
      const all = other.endsWith('/**') ? names.filter((name) => name.startsWith(other.slice(0, -2))) : [other]
      if (all.length === 0 || !all.every((name) => names.includes(name)))
        return [`test/lint/rooms.mjs: ${room} lists ${other}, which is no room.`]
      const later = all.filter((name) => name !== room && names.indexOf(name) >= at)
      // For a tree that the room belongs to itself, the entry means the rooms before it.
      if (later.length === 0 || (other.endsWith('/**') && room.startsWith(other.slice(0, -2)))) return []
      return [`test/lint/rooms.mjs: ${room} lists ${other}, which does not stand before it: imports go down.`]
    }),
  )
}

/** Returns every mistake with what to do about it. */
export async function layerMistakes() {
  const { modules, summary } = await graph()
  const { violations, totalCruised } = summary
  if (totalCruised < 100) return ['No files were found in src/: the linter of layers does not work.']
  const circles = violations
    .filter(({ type }) => type === 'cycle')
    .map(({ cycle = [] }) => cycle.map(({ name }) => name))
    .sort((a, b) => a.length - b.length)
  const refused = violations.filter(({ type }) => type !== 'cycle')
  return [
    ...tableMistakes(),
    ...modules.flatMap(homeless),
    ...modules.flatMap(hiddenImports),
    ...refused.map(sentenceOfImport),
    ...newCircles(circles, refused).map(sentenceOfCircle),
  ]
}

async function graph() {
  const { output } = await cruise(
    ['src'],
    {
      baseDir: root,
      parser: 'swc',
      tsPreCompilationDeps: true,
      doNotFollow: { path: ['node_modules', '^src/generated/'] },
      skipAnalysisNotInRules: true,
      validate: true,
      ruleSet: { forbidden: rules },
    },
    { exportsFields: ['exports'], conditionNames: ['types', 'import', 'node', 'default'] },
  )
  if (typeof output === 'string') throw new Error('Broken: dependency-cruiser was asked for no report.')
  return output
}

/**
 * Returns circles to report, the shortest first. One import that goes up closes hundreds of circles, so a circle is left out
 * when one of its imports was reported already.
 * @param {readonly (readonly string[])[]} circles
 * @param {readonly import('dependency-cruiser').IViolation[]} refused
 */
function newCircles(circles, refused) {
  const reported = new Set(refused.map(({ from, to }) => `${from} ${to}`))
  return circles.filter((files) => {
    const imports = files.map((file, at) => `${file} ${files[(at + 1) % files.length]}`)
    if (imports.some((one) => reported.has(one))) return false
    for (const one of imports) reported.add(one)
    return true
  })
}

const anyRoom = new RegExp(names.map(filesOf).join('|'))

/** @param {import('dependency-cruiser').IModule} module */
function homeless({ source }) {
  if (!source.startsWith('src/') || anyRoom.test(source)) return []
  return [`${source} is in no room.\n  Move it into one, or give its folder a line in test/lint/rooms.mjs.`]
}

/**
 * The library does not see `import('x').Type`, so this finds it.
 * @param {import('dependency-cruiser').IModule} module
 */
function hiddenImports({ source, dependencies }) {
  if (!source.startsWith('src/') || source.startsWith('src/generated/')) return []
  const seen = new Set(dependencies.map(({ module, protocol = '' }) => protocol + module))
  return [...readFileSync(root + source, 'utf8').matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)]
    .map(([, name = '']) => name)
    .filter((name) => !seen.has(name))
    .map(
      (name) =>
        `${source} has import('${name}') as a type.\n  Write "import type" at its top: nothing holds layers otherwise.`,
    )
}

/** @param {import('dependency-cruiser').IViolation} violation */
function sentenceOfImport({ from, to, rule }) {
  if (rule.name === 'not found') return `${from} imports ${to}, which is not there.`
  const room = rooms[rule.name]
  if (room === undefined) throw new Error(`Broken: each rule is a room's, and ${rule.name} is none.`)
  const isFile = to.startsWith('src/')
  const allowed = isFile ? room.rooms : room.packages
  const kinds = isFile ? 'rooms' : 'packages'
  const list = allowed.length === 0 ? `no ${kinds}` : `these ${kinds} only: ${allowed.join(', ')}`
  const remedy = isFile
    ? 'Move what both need to a room below them, or pass it as an argument.'
    : 'Do this in a room that may, and pass the result as an argument; or list it there, if the room does I/O anyway.'
  return `${from} imports ${to}.\n  The room ${rule.name} may import ${list} (test/lint/rooms.mjs).\n  ${remedy}`
}

/** @param {readonly string[]} files */
function sentenceOfCircle(files) {
  const first = [...files].sort()[0] ?? ''
  const at = files.indexOf(first)
  const ordered = [...files.slice(at), ...files.slice(0, at), first]
  return `Files import each other in a circle: ${ordered.join(' → ')}.\n  Move what they share to a file that both import; a type counts too.`
}

async function main() {
  const mistakes = await layerMistakes()
  for (const mistake of mistakes) console.error(mistake)
  if (mistakes.length > 0) throw new FailedError(`${mistakes.length} imports are not as test/lint/rooms.mjs says.`)
}

if (isProgram(import.meta.url)) {
  await runMain('npm run lint:layers checks which room of src/ imports which, by test/lint/rooms.mjs.', main)
}
