import { expect, test } from 'vitest'
import { Markdown } from '../support/fixtures/markdown.ts'
import { errorRows, metricRows } from './tables.ts'

test.each([
  ['docs/errors.md', 'error code', errorRows],
  ['docs/metrics.md', 'metric', metricRows],
] as const)('%s has every %s once, as the code describes it', (file, _what, rows) => {
  // On a failure, put the expected rows into the table of the page.
  const lines = (cells: readonly (readonly string[])[]) => cells.map((row) => `| ${row.join(' | ')} |`)
  expect(lines(new Markdown(file).rows())).toEqual(lines(rows()))
})
