import { expect, test } from 'vitest'
import { decide } from '../../../src/rules/commit/decide.ts'
import { openDraft } from '../../../src/rules/draft/draft.ts'
import { readyScene } from '../../support/drivers/scene.ts'
import { profileRevision, updateTo } from '../../support/fixtures/rollouts.ts'
import { content } from '../../support/fixtures/services.ts'

const port = (name: string) => ({ name, port: null, protocol: 'TCP' as const })
const variables = (count: number, name = 'V') =>
  Array.from({ length: count }, (_, at) => ({ name: `${name}${at}`, value: '1', secret: false }))
const own = (value: string) => [{ name: 'PORT', value, secret: false }]
const ofSystem = (name: string) =>
  `"PORT" is set by the system to the number of the only port, "${name}": leave it out.`

let revisions = 1
/** A new revision of the profile, with these ports and variables. */
const revision = (names: readonly string[], env = variables(0)) =>
  profileRevision(++revisions, { content: content({ ports: names.map(port), env, readiness: null }) })

test.each([
  ['PORT beside one port', revision(['a']), own('1'), [['env.0.name', ofSystem('a')]]],
  ['PORT beside two ports', revision(['a', 'b']), own('1'), []],
  ['PORT beside none', revision([]), own('1'), []],
  ['256 variables in all', revision(['a'], variables(200)), variables(56, 'OWN'), []],
  ['variables that replace the profile’s', revision(['a'], variables(200)), variables(200), []],
  [
    '257 variables in all',
    revision(['a'], variables(200)),
    variables(57, 'OWN'),
    [['env', "With the profile's there are 257 variables: at most 256 are allowed."]],
  ],
  [
    'a revision with one port, beside the service’s PORT',
    revision(['b']),
    undefined,
    [['profileRevision', ofSystem('b')]],
  ],
])('an update to %s', (_what, profile, env, expected) => {
  const scene = readyScene({ replicas: 1 })
  scene.commit(updateTo('two', { profile: revision(['a', 'b']), overrides: { env: own('1') } }))
  const draft = openDraft(scene.snapshot)
  const outcome = decide(draft, updateTo('two', { profile, overrides: env === undefined ? {} : { env } }), scene.ctx)
  const refused = outcome.kind === 'refused' && outcome.refusal.code === 'INVALID_INPUT' ? outcome.refusal.issues : []
  expect(refused).toEqual(expected.map(([path, message]) => ({ path: ['input', ...`${path}`.split('.')], message })))
  expect(outcome.kind).toBe(expected.length === 0 ? 'done' : 'refused')
  if (expected.length > 0) expect(draft).toEqual(openDraft(scene.snapshot))
})
