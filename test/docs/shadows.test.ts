import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { buildSchema } from 'graphql'
import { expect, test } from 'vitest'

// A type that a client generates may hide one of its language. docs/clients.md names each of them.

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

test('clients.md names the types that have the name of a global of JavaScript', () => {
  const compilers = 'node_modules/@typescript'
  const [compiler = ''] = readdirSync(path.join(root, compilers)).filter((name) => name.startsWith('typescript-'))
  const globals = new Set(
    ['lib.dom.d.ts', 'lib.es5.d.ts', 'lib.es2015.core.d.ts'].flatMap((file) =>
      [
        ...read(`${compilers}/${compiler}/lib/${file}`).matchAll(/^(?:declare (?:var|class|const)|interface) (\w+)/gm),
      ].map(([, name = '']) => name),
    ),
  )
  expect(globals.size).toBeGreaterThan(1_000)
  const types = Object.keys(buildSchema(read('schema.graphql')).getTypeMap()).filter(
    (name) => !/^(?:__|(String|Boolean)$)/.test(name),
  )
  const section = read('docs/clients.md').split('## Types whose names your language has')[1] ?? ''
  const named = [...section.matchAll(/^\| `(\w+)` /gm)].map(([, name]) => name)
  expect(named.sort()).toEqual(types.filter((name) => globals.has(name)).sort())
})
