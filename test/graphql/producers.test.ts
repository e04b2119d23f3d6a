import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  buildSchema,
  type GraphQLEnumType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
} from 'graphql'
import { expect, test } from 'vitest'

// A value that nothing can produce is a promise that nobody keeps: whoever reads the schema writes code for it.

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const ofUsers = buildSchema(read('schema.graphql'))
const ofWorkers = buildSchema(read('src/graphql/workerProtocol/worker.graphql'))

/** The code without its comments, by the file's path in src/. */
const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('generated/'))
  .map((file) => ({ file, text: read(`src/${file}`).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '') }))
/** What only workers and pretended ones say, in words of their own. */
const byWorkers = /^(worker|simulation|demo|tools)\//

const enumsOf = (schema: GraphQLSchema) =>
  Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLEnumType => isEnumType(type) && !type.name.startsWith('__'),
  )

/** Enums whose values users write, in an input that is more than a filter. */
const written = new Set(
  Object.values(ofUsers.getTypeMap())
    .filter(isInputObjectType)
    .filter(({ name }) => !name.endsWith('Filter'))
    .flatMap((input) => Object.values(input.getFields()).map(({ type }) => getNamedType(type).name)),
)

/** Ends that the rules take over from a worker's report as they are. */
const takenOver = ['COMPLETED', 'EXITED', 'GAVE_UP', 'START_FAILED'].map((name) => `EndReason.${name}`)

/** Whether the code has the value as a string that it does not only compare with, or name in a type. */
const isProduced = (value: string, files: readonly { readonly text: string }[]) =>
  files.some(({ text }) =>
    [...text.matchAll(new RegExp(`['"]${value}['"]`, 'g'))].some(
      ({ index }) => !/(?:[!=]==|\bcase|\||<|\w<[^<>()]*,)\s*$/.test(text.slice(0, index)),
    ),
  )

const byOthers = sources.filter(({ file }) => !byWorkers.test(file))
const values = [...enumsOf(ofUsers), ...enumsOf(ofWorkers)]
  .filter(({ name }) => !written.has(name))
  .flatMap((type) => type.getValues().map((value) => ({ type: type.name, name: value.name })))
  .map(({ type, name }) => {
    const isOfWorkers = ofWorkers.getType(type) !== undefined || takenOver.includes(`${type}.${name}`)
    return { value: `${type}.${name}`, isAlive: isProduced(name, isOfWorkers ? sources : byOthers) }
  })

test('every value of an enum can come up', () => {
  expect(values.length).toBeGreaterThan(100)
  expect(isProduced('NO_SUCH_VALUE', sources)).toBe(false)
  expect(values.filter(({ isAlive }) => !isAlive).map(({ value }) => value)).toEqual([])
})

test('no enum has a single value', () => {
  const single = [...enumsOf(ofUsers), ...enumsOf(ofWorkers)].filter((type) => type.getValues().length < 2)
  expect(single.map(({ name }) => name)).toEqual([])
})
