import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Markdown } from '../support/fixtures/markdown.ts'

const readme = new Markdown('README.md')
const pages = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
const documents = ['README.md', 'CONTRIBUTING.md', 'src/rules/README.md', ...pages]

test.each(documents)('every link of %s leads to a file, and to a heading where it names one', (file) => {
  expect(new Markdown(file).brokenLinks()).toEqual([])
})

test('README links to every page of docs/', () => {
  expect(pages.filter((page) => !readme.filesIn(readme.text).includes(page))).toEqual([])
})

test('README is short enough to be read in ten minutes', () => {
  expect(readme.text.trimEnd().split('\n').length).toBeLessThanOrEqual(180)
})
