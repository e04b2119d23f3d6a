import { expect, test } from 'vitest'
import { Markdown } from '../support/fixtures/markdown.ts'

const page = new Markdown('docs/where-is.md')

test('every file that it names exists', () => {
  expect(page.brokenLinks()).toEqual([])
})

test('each of its things leads to a file, and is there once', () => {
  const rows = page.rows()
  expect(rows.length).toBeGreaterThanOrEqual(30)
  const lost = rows.filter(([, where = '']) => page.filesIn(where).length === 0)
  expect(lost).toEqual([])
  expect(new Set(rows.map(([what]) => what)).size).toBe(rows.length)
})
