import fc from 'fast-check'
import type { Settings } from '../../src/model/settings.ts'
import { settings } from '../support/fixtures/services.ts'

/** What may happen; `crash` loads all anew that the server knew. */
const steps = [
  'scale',
  'kill',
  'ready',
  'ready',
  'unready',
  'restart',
  'end',
  'stopped',
  'portTaken',
  'grant',
  'grant',
  'setBlockers',
  'tick',
  'clock',
  'timer',
  'adopt',
  'stale',
  'resetBackoff',
  'batch',
  'update',
  'update',
  'revise',
  'limits',
  'rollback',
  'restartAll',
  'pause',
  'resume',
  'batchUpdate',
  'crash',
  'unreach',
  'lose',
  'return',
  'drain',
  'undrain',
  'requeue',
  'delete',
] as const
type Step = (typeof steps)[number]

/** One thing that happens: `pick` chooses among replicas, `amount` how many. */
export interface Happening {
  readonly step: Step
  readonly pick: number
  readonly amount: number
}

export interface History {
  readonly replicas: number
  readonly settings: Settings
  readonly probed: boolean
  readonly happenings: readonly Happening[]
}

const limit = fc.oneof(fc.record({ count: fc.nat(3) }), fc.record({ percent: fc.constantFrom(0, 10, 25, 50, 100) }))

export const history: fc.Arbitrary<History> = fc.record({
  replicas: fc.nat(8),
  settings: fc
    .record({
      maxSurge: limit,
      maxUnavailable: limit,
      minReadySeconds: fc.constantFrom(0, 0, 5),
      progressDeadlineSeconds: fc.constantFrom(30, 600),
      autoRollback: fc.boolean(),
      watchSeconds: fc.constantFrom(0, 7, 60),
    })
    .map((over) => settings({ ...over, backoffResetAfterSeconds: 60 })),
  probed: fc.boolean(),
  happenings: fc.array(fc.record({ step: fc.constantFrom(...steps), pick: fc.nat(1000), amount: fc.nat(1000) }), {
    maxLength: 40,
  }),
})
