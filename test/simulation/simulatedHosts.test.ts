import { expect, test } from 'vitest'
import { readScenario } from '../../src/simulation/scenarioFile/readScenario.ts'
import { ScenarioRun } from '../../src/simulation/scenarioRun.ts'

/** What is said of hosts while this happens to n1 and n2, at one minute after the other. */
function saidOf(...events: readonly string[]): string[] {
  const told = readScenario(`
end: 1h
hosts: [{ name: n1 }, { name: n2 }]
services: [{ name: web, replicas: 2 }]
events: [${events.map((event, at) => `{ at: ${at + 1}m, host: { ${event} } }`).join(', ')}]`)
  if (told.kind !== 'scenario') throw new Error('It is a scenario.')
  const said: string[] = []
  const run = new ScenarioRun(told.scenario, ({ subject, message }) => {
    if (subject !== 'web') said.push(message)
  })
  while (run.advance());
  expect(run.simulation.store.faults).toEqual([])
  return said
}

test('hosts are told of in the words of the server, also where an operator asks in vain', () => {
  expect(
    saidOf(
      'name: n1, scheduling: CORDONED',
      'name: n1, scheduling: CORDONED',
      'name: n1, scheduling: OPEN',
      'name: n1, is: LOST',
    ),
  ).toEqual([
    'user cordoned host n1: it takes no new replicas.',
    'scheduleHost was refused: Host n1 is CORDONED already: there is nothing to change.',
    'user uncordoned host n1: it takes replicas.',
    'confirmHostLoss was refused: Host n1 is reachable, so that it is not lost: drain it, then stop its worker.',
  ])
})

test('a drained host says so once, when its last replica has left', () => {
  const drained = 'Host n1 is drained: none of its replicas is left on it.'
  const said = saidOf('name: n1, scheduling: DRAINING', 'name: n1, scheduling: DRAINING')
  expect(said[0]).toBe('user drains host n1: its replicas are replaced elsewhere, within the limits of their services.')
  expect(said.filter((message) => message === drained)).toHaveLength(1)
})

test.each([
  ['DOWN', 'Down'],
  ['SILENT', 'Silent'],
])('a host that was %s is back, before it was lost or after', (trouble, word) => {
  const unreachable =
    "Host n1 can't be reached: its worker has not renewed its lease. It is lost when it is not back within 60 s."
  const lost =
    'Host n1 is lost: it was silent for longer than its lease and 60 s of grace. Its replicas are replaced elsewhere.'
  expect(
    saidOf(
      `name: n1, is: ${trouble}`,
      'name: n1, is: UP',
      `name: n1, is: ${trouble}`,
      'name: n2, is: UP',
      'name: n1, is: UP',
    ),
  ).toEqual([
    ...[`${word}: host n1.`, unreachable, 'Up: host n1.', 'Host n1 is back, before it was lost.'],
    ...[
      `${word}: host n1.`,
      unreachable,
      'Up: host n2.',
      lost,
      'Up: host n1.',
      'Host n1 is back, and runs nothing that was replaced.',
    ],
  ])
})
