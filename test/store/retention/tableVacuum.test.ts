import { expect, test } from 'vitest'
import { type TableFigures, vacuumOf } from '../../../src/store/retention/tableVacuum.ts'

const quiet: TableFigures = {
  table: '"Fact"',
  knownRows: 10_000,
  deadRows: 0,
  insertedSinceVacuum: 0,
  changedSinceAnalyze: 0,
  age: 1_000,
}

test.each<[string, Partial<TableFigures>, { vacuum: boolean; analyze: boolean } | null]>([
  ['nothing has happened', {}, null],
  ['a fifth is dead and 50 more: not yet', { deadRows: 2_050 }, null],
  ['one more', { deadRows: 2_051 }, { vacuum: true, analyze: false }],
  ['a small table: 50 dead rows are not worth it', { knownRows: 1, deadRows: 50 }, null],
  ['a small table: 51 are', { knownRows: 1, deadRows: 51 }, { vacuum: true, analyze: false }],
  [
    'inserted only: pages are to be marked and frozen',
    { insertedSinceVacuum: 3_001 },
    { vacuum: true, analyze: false },
  ],
  ['a tenth has changed', { changedSinceAnalyze: 1_051 }, { vacuum: false, analyze: true }],
  ['never looked at, and empty', { knownRows: -1 }, null],
  ['never looked at', { knownRows: -1, changedSinceAnalyze: 51 }, { vacuum: false, analyze: true }],
  ['old transaction ids, and nothing dead', { age: 100_000_001 }, { vacuum: true, analyze: false }],
])('%s', (_name, over, expected) => {
  expect(vacuumOf({ ...quiet, ...over })).toEqual(expected && { table: '"Fact"', ...expected })
})
