import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

// What the compiler can't see: a file that nobody imports declares nothing, and a mutation may forget to ask what is left of its input.

const room = path.join(import.meta.dirname, '../../src/graphql')
const files = readdirSync(room, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('kit/'))
  .map((file) => ({ file, text: readFileSync(path.join(room, file), 'utf8') }))

test('every file that declares a query, mutation or subscription is imported, mostly by schema.ts', () => {
  const declaring = files.filter(({ text }) =>
    /\bbuilder\.(query|mutation|subscription)Fields?\(|\buserMutation\(/.test(text),
  )
  const imported = new Set(
    files.flatMap(({ file, text }) =>
      [...text.matchAll(/^(?:import|.* from) '(\..*)'$/gm)].map(([, to = '']) => path.join(path.dirname(file), to)),
    ),
  )
  expect(declaring.length).toBeGreaterThan(15)
  expect(declaring.map(({ file }) => file).filter((file) => !imported.has(file))).toEqual([])
})

test('every mutation hands what is left of its input to noneLeft, so that a field that nobody takes does not compile', () => {
  const count = (text: string, call: string) => text.split(call).length - 1
  const forgetful = files.filter(({ text }) => count(text, 'noneLeft(') < count(text, 'userMutation({'))
  expect(forgetful.map(({ file }) => file)).toEqual([])
})
