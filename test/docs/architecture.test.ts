import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Markdown, root } from '../support/fixtures/markdown.ts'

const page = new Markdown('docs/architecture.md')
const sectionOf = (heading: string) => page.text.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`))

/** Of the constants: name, figure as digits, file. */
const constants = page.rows().flatMap(([name = '', figure = '', , file = '']) => {
  const constant = /^`(\w+)`$/.exec(name)?.[1]
  return constant !== undefined && /^[\d,]+$/.test(figure)
    ? [[constant, figure.replaceAll(',', ''), page.filesIn(file)[0] ?? ''] as const]
    : []
})

test.each(constants)('%s is %s in %s', (constant, figure, file) => {
  const source = readFileSync(path.join(root, file), 'utf8')
  const values = [...source.matchAll(new RegExp(`\\b${constant} = ([\\d_]+)`, 'g'))]
  expect(values.map(([, value = '']) => value.replaceAll('_', ''))).toContain(figure)
})

test('the constants are there, and every room is told', () => {
  expect(constants.length).toBeGreaterThan(30)
  const rooms = readdirSync(path.join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name } of rooms) expect(sectionOf('Rooms')).toContain(`src/${name}/`)
})
