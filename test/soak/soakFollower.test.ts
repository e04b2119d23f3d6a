import { describe, expect, test } from 'vitest'
import { faultOf, type Heard } from './soakFollower.ts'
import { soakKinds } from './soakKinds.ts'
import type { SoakLog } from './soakLog.ts'

/** Events at 2, 3 and 5; a service "web" that was created at 1 and changed at 4, is gone at 6, and there again at 8. */
const log = {
  events: (from: bigint, to: bigint) => [2n, 3n, 5n].filter((event) => event > from && event <= to).map(String),
  changesOf: (name: string, from: bigint, to: bigint) =>
    [
      { revision: 1n, before: {}, after: { status: 'PROGRESSING' } },
      { revision: 4n, before: { status: 'PROGRESSING' }, after: { status: 'HEALTHY' } },
      { revision: 6n, before: { deletedAt: null }, after: { deletedAt: 1 } },
      { revision: 8n, before: {}, after: { status: 'PROGRESSING' } },
    ].filter(({ revision }) => name === 'web' && revision > from && revision <= to),
} as unknown as SoakLog

const heard = (kind: Heard['kind'], revision: bigint, ...told: string[]): Heard => ({ kind, revision, told })

describe('a frame of events', () => {
  test.each([
    ['that tells all of its interval', 1n, heard('DELTA', 3n, '2', '3'), null],
    ['that left one out', 1n, heard('DELTA', 5n, '2', '5'), 'tells ["2","5"], and there was ["2","3","5"]'],
    ['that tells one again', 2n, heard('DELTA', 3n, '2', '3'), 'tells ["2","3"], and there was ["3"]'],
    ['that goes back', 3n, heard('DELTA', 2n, '2'), 'goes back'],
    ['that is a BOOKMARK over an event', 3n, heard('BOOKMARK', 5n), 'tells [], and there was ["5"]'],
    ['that is a BOOKMARK over nothing', 5n, heard('BOOKMARK', 9n), null],
    ['that begins', null, heard('SNAPSHOT', 5n), null],
    ['that begins with a change', null, heard('DELTA', 5n, '5'), 'is the first frame'],
    ['that begins anew', 3n, heard('SNAPSHOT', 5n), 'begins anew, although what was missed is kept'],
  ])('%s', (_what, from, frame, fault) => {
    expect(faultOf(soakKinds.eventAdded, '', from, frame, log)).toBe(fault)
  })
})

describe('a frame of a service', () => {
  test.each([
    ['that tells a change', 1n, heard('DELTA', 4n, 'changed'), null],
    [
      'that tells a change where there was none',
      1n,
      heard('DELTA', 3n, 'changed'),
      'tells ["changed"], and there was []',
    ],
    ['that says it is gone', 4n, heard('GONE', 6n), null],
    ['that says so while it is there', 1n, heard('GONE', 5n), 'is about a service that is there'],
    ['that begins anew with the next one of its name', 4n, heard('SNAPSHOT', 8n), null],
    ['that begins anew with the same one', 1n, heard('SNAPSHOT', 5n), 'begins anew, although what was missed is kept'],
  ])('%s', (_what, from, frame, fault) => {
    expect(faultOf(soakKinds.serviceChanged, 'web', from, frame, log)).toBe(fault)
  })
})
