import { readFileSync } from 'node:fs'
import { cruise } from 'dependency-cruiser'
import { FailedError, isProgram, root, runMain } from '../../src/tools/project.mjs'
import { knownCircles, rooms } from './rooms.mjs'

// `npm run lint:layers`: every import in src/ is one that the table in test/lint/rooms.mjs allows, and no files import each other in a circle.

const names = Object.keys(rooms)

/** @param {string} text */
const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/**
 * The files of a room, without those of sub-rooms that are rooms themselves.
 * @param {string} room
 */
function filesOf(room) {
  if (room.endsWith('.ts')) return `^src/${quoted(room)}$`
  const within = names.filter((name) => name.startsWith(`${room}/`)).map((name) => name.slice(room.length + 1))
  const others = within.map((name) => `${quoted(name)}${name.endsWith('.ts') ? '$' : '/'}`)
  return `^src/${quoted(room)}/${others.length === 0 ? '' : `(?!${others.join('|')})`}`
}

/**
 * Of the files that an entry of the table allows.
 * @param {string} entry
 */
const filesAllowedBy = (entry) => (entry.endsWith('/**') ? `^src/${quoted(entry.slice(0, -3))}/` : filesOf(entry))

/**
 * Node's modules are what is no file and was found all the same.
 * @param {string} entry
 */
const packageAllowedBy = (entry) =>
  entry === 'node:' ? '^(?!src/|test/|tools/|node_modules/)' : `^node_modules/(@types/)?${quoted(entry)}/`

/**
 * One rule for each room: nothing that is not listed.
 * @type {import('dependency-cruiser').IForbiddenRuleType[]}
 */
const ofRooms = Object.entries(rooms).map(([room, { rooms: others, upward = [], packages }]) => ({
  name: room,
  severity: 'error',
  from: { path: filesOf(room) },
  to: {
    pathNot: [filesOf(room), ...[...others, ...upward].map(filesAllowedBy), ...packages.map(packageAllowedBy)],
  },
}))

/** @type {import('dependency-cruiser').IForbiddenRuleType[]} */
const rules = [
  ...ofRooms,
  { name: 'not found', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
  { name: 'circle', severity: 'error', from: { path: '^src/', pathNot: '^src/generated/' }, to: { circular: true } },
]

/** What is wrong with the table itself. */
function tableMistakes() {
  return Object.entries(rooms).flatMap(([room, { rooms: others }], at) =>
    others.flatMap((other) => {
      const all = other.endsWith('/**') ? names.filter((name) => name.startsWith(other.slice(0, -2))) : [other]
      if (all.length === 0 || !all.every((name) => names.includes(name)))
        return [`test/lint/rooms.mjs: ${room} lists ${other}, which is no room.`]
      const later = all.filter((name) => name !== room && names.indexOf(name) >= at)
      // Of a tree to which it belongs itself, those before it are meant.
      if (later.length === 0 || (other.endsWith('/**') && room.startsWith(other.slice(0, -2)))) return []
      return [`test/lint/rooms.mjs: ${room} lists ${other}, which does not stand before it: imports go down.`]
    }),
  )
}

/** Every mistake as a sentence or more. */
export async function layerMistakes() {
  const { modules, summary } = await graph()
  const { violations, totalCruised } = summary
  if (totalCruised < 100) return ['No files were found in src/: the linter of layers does not work.']
  const circles = violations
    .filter(({ type }) => type === 'cycle')
    .map(({ cycle = [] }) => cycle.map(({ name }) => name))
    .sort((a, b) => a.length - b.length)
  const refused = violations.filter(({ type, from, to }) => type !== 'cycle' && knownCircleOf([from, to]) === undefined)
  const isInCircle = (/** @type {string} */ file, /** @type {readonly string[]} */ known) =>
    circles.some((files) => files.includes(file) && knownCircleOf(files) === known)
  return [
    ...tableMistakes(),
    ...modules.flatMap(homeless),
    ...modules.flatMap(hiddenImports),
    ...refused.map(sentenceOfImport),
    ...newCircles(circles, refused).map(sentenceOfCircle),
    ...knownCircles.flatMap((known) =>
      known
        .filter((file) => !isInCircle(file, known))
        .map(
          (file) => `test/lint/rooms.mjs: ${file} is in no circle any more.\n  Take it off the list of known circles.`,
        ),
    ),
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

/** @param {readonly string[]} files */
const knownCircleOf = (files) => knownCircles.find((circle) => files.every((file) => circle.includes(file)))

/**
 * Those that are not known, the shortest first. One import that goes up closes hundreds: of those with an import that was told already none is told.
 * @param {readonly (readonly string[])[]} circles
 * @param {readonly import('dependency-cruiser').IViolation[]} refused
 */
function newCircles(circles, refused) {
  const told = new Set(refused.map(({ from, to }) => `${from} ${to}`))
  return circles.filter((files) => {
    const imports = files.map((file, at) => `${file} ${files[(at + 1) % files.length]}`)
    if (knownCircleOf(files) !== undefined || imports.some((one) => told.has(one))) return false
    for (const one of imports) told.add(one)
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
 * `import('x').Type` is the one way to import that the library does not see.
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
  const allowed = isFile ? [...room.rooms, ...(room.upward ?? [])] : room.packages
  const kinds = isFile ? 'rooms' : 'packages'
  return `${from} imports ${to}.\n  The room ${rule.name} may import ${allowed.length === 0 ? `no ${kinds}` : `these ${kinds} only: ${allowed.join(', ')}`} (test/lint/rooms.mjs).\n  ${
    isFile
      ? 'Move what both need to a room below them, or hand it in as an argument.'
      : room.packages.length === 0
        ? 'It is pure: do this outside, and hand the result in as an argument.'
        : 'Do this in a room that has the package, or list it there if the room is the place for it.'
  }`
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

if (isProgram(import.meta.url)) await runMain(main)
