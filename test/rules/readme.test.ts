import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { Markdown, root } from '../support/fixtures/markdown.ts'

const readme = new Markdown('src/rules/README.md')

/** By number: the text of each rule's section. */
const sections = new Map(
  readme.text.split(/^(?=## )/m).flatMap((section) => {
    const number = /^## R(\d+) \S/.exec(section)?.[1]
    return number === undefined ? [] : [[Number(number), section] as const]
  }),
)
const rules = Array.from({ length: 17 }, (_, index) => index + 1)

/** The source files that people write. */
const sources = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
  .map((file) => path.join('src', file))

test('every rule has a section, in order', () => {
  expect([...sections.keys()]).toEqual(rules)
})

test.each(rules)('R%i ends with its code and its tests', (rule) => {
  const section = sections.get(rule) ?? ''
  const [code = '', tests = ''] = section.trimEnd().split('\n\n').slice(-2)
  expect(code).toMatch(/^Code: /)
  expect(tests).toMatch(/^Tests: /)
  expect(readme.filesIn(code).filter((file) => file.startsWith('src/'))).not.toEqual([])
  expect(readme.filesIn(tests).filter((file) => file.startsWith('test/'))).not.toEqual([])
})

test('every rule that the code names has a section', () => {
  const unknown = sources.flatMap((file) => {
    const names = readFileSync(path.join(root, file), 'utf8').matchAll(/\bR(\d+)\b/g)
    return [...names].flatMap(([name, number]) => (sections.has(Number(number)) ? [] : [`${file}: ${name}`]))
  })
  expect(unknown).toEqual([])
  expect(sources.length).toBeGreaterThan(300)
})
