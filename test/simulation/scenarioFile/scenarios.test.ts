import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HostLedger } from '../../../src/simulation/hostLedger.ts'
import { Random } from '../../../src/simulation/random.ts'
import type { Scenario } from '../../../src/simulation/scenario.ts'
import { readScenario, ScenarioMistakes } from '../../../src/simulation/scenarioFile/readScenario.ts'
import { type Line, ScenarioRun } from '../../../src/simulation/scenarioRun.ts'

const examples = path.join(import.meta.dirname, '../../../src/simulation/examples')

function scenarioIn(text: string): Scenario {
  const told = readScenario(text)
  if (told.kind !== 'scenario') throw new Error('It is a scenario.')
  return told.scenario
}

function ran(scenario: Scenario): { readonly run: ScenarioRun; readonly lines: readonly Line[] } {
  const lines: Line[] = []
  const run = new ScenarioRun(scenario, (line) => lines.push(line))
  while (run.advance());
  return { run, lines }
}

/** What the replicas on a host hold. */
const usedCpu = ({ workers }: HostLedger) => workers.reduce((sum, { usedCpuMillis }) => sum + usedCpuMillis, 0)

const faultsOf = (lines: readonly Line[]) => lines.filter(({ isFault }) => isFault).map(({ message }) => message)

describe('the examples', () => {
  // The big ones take their time: they are for the command line.
  const names = readdirSync(examples).filter((name) => name !== 'big.yaml' && name !== 'size.yaml')

  test.each(names)('%s: no invariant is broken, and every expectation comes true', (name) => {
    const { lines } = ran(scenarioIn(readFileSync(path.join(examples, name), 'utf8')))
    expect(faultsOf(lines)).toEqual([])
    expect(lines.length).toBeGreaterThan(10)
  })

  test('the big one is a scenario too', () => {
    expect(scenarioIn(readFileSync(path.join(examples, 'big.yaml'), 'utf8')).hosts).toHaveLength(1000)
  })

  test('size.yaml, 50 times smaller: a fifth of the hosts die while a sixth of the services roll', () => {
    const counts: readonly number[] = [5_000, 2_500, 500, 1_000]
    const small = readFileSync(path.join(examples, 'size.yaml'), 'utf8').replaceAll(
      /count: (\d+)/g,
      (_, count: string) => {
        expect(counts).toContain(Number(count))
        return `count: ${Number(count) / 50}`
      },
    )
    const scenario = scenarioIn(small)
    expect(scenario.hosts).toHaveLength(100)
    expect(scenario.services.reduce((sum, { replicas }) => sum + replicas, 0)).toBe(3_000)
    const { run, lines } = ran(scenario)
    expect(faultsOf(lines)).toEqual([])
    const { hosts } = run.simulation.store
    const lost = [...hosts.values()].filter(({ reachability }) => reachability === 'LOST')
    expect(lost).toHaveLength(20)
    expect(lost.every((host) => usedCpu(host) === 0)).toBe(true)
    expect([...hosts.values()].reduce((sum, host) => sum + usedCpu(host), 0)).toBe(3_000_000)
  })

  test('the same seed tells the same story, another one another', () => {
    const scenario = scenarioIn(readFileSync(path.join(examples, 'unreliable.yaml'), 'utf8'))
    const story = (seed: number) => ran({ ...scenario, seed }).lines
    expect(story(scenario.seed)).toEqual(story(scenario.seed))
    expect(story(scenario.seed)).not.toEqual(story(scenario.seed + 1))
  })

  test.each([1, 2, 3, 4, 5])('unreliable programs, seed %s: no invariant is broken', (seed) => {
    const { run } = ran({
      ...scenarioIn(readFileSync(path.join(examples, 'unreliable.yaml'), 'utf8')),
      seed,
      expected: [],
    })
    expect(run.simulation.store.faults).toEqual([])
    for (const { snapshot } of run.simulation.store.services.values()) {
      const { desiredReplicas, availableReplicas } = snapshot.columns
      expect({ name: snapshot.name, availableReplicas }).toEqual({
        name: snapshot.name,
        availableReplicas: desiredReplicas,
      })
    }
    // Quota, hosts and ports are what the replicas hold.
    const replicas = [...run.simulation.store.services.values()].flatMap(({ snapshot }) => [
      ...snapshot.replicas.values(),
    ])
    const used = [...run.simulation.store.hosts.values()].reduce((total, host) => total + usedCpu(host), 0)
    expect(used).toBe(replicas.reduce((total, row) => total + row.cpuMillis, 0))
    expect([...run.simulation.store.projects.values()].map(({ usedReplicas }) => usedReplicas)).toEqual([
      replicas.length,
    ])
  })
})

test.each([1, 3, 4, 5])(
  'hosts that fail, return, are drained and given up at random, seed %s: no invariant is broken',
  (seed) => {
    const random = new Random(seed)
    const one = <T>(choices: readonly T[]) => choices[Math.floor(random.next() * choices.length)]
    const troubles = [
      'is: SILENT',
      'is: DOWN',
      'is: UP',
      'is: UP',
      'is: LOST',
      'scheduling: DRAINING',
      'scheduling: OPEN',
      'scheduling: CORDONED',
    ]
    const events = Array.from({ length: 150 }, (_, at) => {
      const trouble = `host: { name: node, count: ${1 + Math.floor(random.next() * 3)}, ${one(troubles)} }`
      const users = [
        'update: { service: web, release: v1 }',
        'update: { service: web, release: v2 }',
        'scale: { service: web, replicas: 9 }',
      ]
      return `{ at: ${60 + 7 * at}, ${random.chance(0.8) ? trouble : one([...users, 'scale: { service: web, replicas: 5 }', 'restart: { service: web }'])} }`
    })
    const { run, lines } = ran(
      scenarioIn(`
seed: ${seed}
end: 1h
hosts: [{ name: node, count: 8, cpuMillis: 8000 }]
services:
  - { name: web, count: 3, replicas: 7, ports: [{ name: http }], startAfter: 0s..3s, readyAfter: 0s..20s, stopAfter: 0s..12s, crashAfter: 10s..60s,
      crashChance: 0.1, portTakenChance: 0.05, releases: { v1: {}, v2: {} } }
events: [${events.join(', ')}, { at: 20m, host: { name: node, is: UP } }, { at: 20m, host: { name: node, scheduling: OPEN } }]`),
    )
    const { store } = run.simulation
    expect(store.faults).toEqual([])
    for (const happened of [
      'lost with the worker on host',
      "can't be reached",
      'can be reached again',
      'came back without it',
      'stopped: its worker is being drained',
    ]) {
      expect(lines.map(({ message }) => message).join('\n')).toContain(happened)
    }
    for (const { snapshot } of store.services.values()) {
      expect(snapshot.columns).toMatchObject({
        status: 'HEALTHY',
        availableReplicas: snapshot.columns.desiredReplicas,
        stoppingReplicas: 0,
      })
    }
    const replicas = [...store.services.values()].flatMap(({ snapshot }) => [...snapshot.replicas.values()])
    expect([...store.hosts.values()].reduce((total, host) => total + usedCpu(host), 0)).toBe(1_000 * replicas.length)
  },
)

const small = (more: string) =>
  `end: 5m\nhosts: [{ name: node, count: 2 }]\nservices: [{ name: web, replicas: 2, releases: { v1: {}, v2: {} } }]\n${more}`

test('an expectation that does not come true is told', () => {
  const { run, lines } = ran(
    scenarioIn(
      small(
        'events: [{ at: 1m, expect: { service: web, available: 3 } }]\nexpect: [{ service: web, status: STOPPED, blocker: QUOTA, lowestAvailable: 3, highestActive: 1 }]',
      ),
    ),
  )
  expect(faultsOf(lines)).toEqual([
    'Expected available replicas 3 of web, and it is 2.',
    'Expected status STOPPED of web, and it is HEALTHY.',
    'Expected blocker QUOTA of web, and there is none.',
    'Expected that at least 3 replicas of web stay available, and there were only 2 once.',
    'Expected at most 1 active replicas of web, and there were 2 once.',
  ])
  expect(run.failures).toBe(5)
})

test('what users ask in vain is told, and breaks nothing', () => {
  const { lines } = ran(
    scenarioIn(
      small(
        'events: [{ at: 1m, pause: { service: web } }, { at: 1m, kill: { service: web, index: 7 } }, { at: 1m, rollback: { service: web, toVersion: 9 } }, { at: 1m, update: { service: web, release: v1 } }]',
      ),
    ),
  )
  expect(
    lines.filter(({ message }) => message.includes('was refused')).map(({ message }) => message.split(':')[0]),
  ).toEqual(['pause was refused', 'kill was refused', 'rollback was refused', 'update was refused'])
  expect(faultsOf(lines)).toEqual([])
})

describe('mistakes in a file, one sentence each', () => {
  const sentences = (text: string): readonly string[] => {
    try {
      readScenario(text)
    } catch (error) {
      if (error instanceof ScenarioMistakes) return error.sentences
      throw error
    }
    return []
  }

  test.each([
    ['seed: -1', 'seed: -1 is too small: the least is 0.'],
    ['colour: red', '"colour" is not known here.'],
    ['events: [{ at: 5s }]', /^events\[0\]: Nothing happens here: give one of scale, /],
    [
      'events: [{ at: 5s, pause: { service: web }, resume: { service: web } }]',
      'events[0]: Give one action, not pause and resume.',
    ],
    [
      'events: [{ pause: { service: web } }]',
      'events[0].at: It is missing: give a duration, in seconds or as a text such as 90s.',
    ],
    [
      'events: [{ at: 1s, scale: { service: web, replicas: 1.5 } }]',
      'events[0].scale.replicas: 1.5 is not a whole number.',
    ],
    [
      'events: [{ at: 1s, scale: { service: web, replicas: 50001 } }]',
      'events[0].scale.replicas: 50001 is too great: the most is 50000.',
    ],
    ['events: [{ at: 1s, pause: { service: api } }]', 'events[0].pause.service: There is no service "api".'],
    [
      'events: [{ at: 1s, update: { service: web, release: v3 } }]',
      'events[0].update.release: Service web has no release "v3": give one of v1, v2.',
    ],
    [
      'events: [{ at: 1s, quota: { project: p, maxReplicas: 1 } }]',
      'events[0].quota.project: There is no project "p".',
    ],
    ['events: [{ at: 1s, host: { name: h, scheduling: OPEN } }]', 'events[0].host.name: There is no host "h".'],
    ['events: [{ at: 1s, host: { name: node } }]', 'events[0].host: Give one of scheduling and is.'],
    [
      'events: [{ at: 1s, host: { name: node, scheduling: OPEN, is: DOWN } }]',
      'events[0].host: Give one of scheduling and is.',
    ],
    [
      'events: [{ at: 1s, host: { name: node, is: AWAY } }]',
      'events[0].host.is: "AWAY" is not known here: give one of DOWN, SILENT, UP, LOST.',
    ],
    ['grace: never', /^grace: "never" is not a duration/],
    [
      'events: [{ at: 1s, host: { name: node, scheduling: SHUT } }]',
      'events[0].host.scheduling: "SHUT" is not known here: give one of OPEN, CORDONED, DRAINING.',
    ],
    ['expect: [{ service: web, available: -1 }]', 'expect[0].available: -1 is too small: the least is 0.'],
  ])('%s', (more, sentence) => {
    expect(sentences(small(more))).toEqual([typeof sentence === 'string' ? sentence : expect.stringMatching(sentence)])
  })

  test.each([
    ['replicas: 60000', 'services[0].replicas: 60000 is too great: the most is 50000.'],
    [
      'replicas: 1, rollout: { maxSurge: 120% }',
      'services[0].rollout.maxSurge: "120%" is not a limit: give 0% to 100%, or 0 to 50000 replicas.',
    ],
    [
      'replicas: 1, rollout: { maxSurge: 0, maxUnavailable: 0% }',
      /^services\[0\]\.rollout: maxSurge and maxUnavailable are both 0/,
    ],
    [
      'replicas: 1, rollout: { minReadySeconds: 700 }',
      /^services\[0\]\.rollout\.minReadySeconds: progressDeadlineSeconds would be 600/,
    ],
    [
      'replicas: 1, backoff: { baseSeconds: 400 }',
      /^services\[0\]\.backoff\.baseSeconds: baseSeconds would be 400 and maxSeconds 300/,
    ],
    [
      'replicas: 1, readyAfter: 9s..2s',
      'services[0].readyAfter: "9s..2s" ends before it begins: give the shorter duration first.',
    ],
    ['replicas: 1, readyAfter: soon', /^services\[0\]\.readyAfter: "soon" is not a duration from 0 to 604800 s/],
    ['replicas: 1, crashChance: 2', 'services[0].crashChance: 2 is too great: the most is 1.'],
    ['replicas: 1, queue: q', 'services[0].queue: There is no queue "q": add it to queues.'],
    ['replicas: 1, project: p', 'services[0].project: There is no project "p": add it to projects.'],
    ['replicas: 1, release: v9', 'services[0].release: There is no release "v9": give one of v1.'],
  ])('{ name: web, %s }', (service, sentence) => {
    const text = `end: 1m\nhosts: [{ name: node }]\nservices: [{ name: web, ${service} }]`
    expect(sentences(text)).toEqual([typeof sentence === 'string' ? sentence : expect.stringMatching(sentence)])
  })

  test('no YAML, and nothing at all', () => {
    expect(sentences('hosts: [\n a: b')).toEqual([expect.stringMatching(/^line 2, column \d+: this is not YAML: /)])
    expect(sentences('')).toEqual([expect.stringContaining('is not a mapping')])
    expect(sentences('replay: 5')).toEqual([expect.stringContaining('replay')])
  })
})

// R6, R9: without a probe and at the defaults, a release that crashes at any time within its watch is taken back.
test.each(
  [1, 4, 10].flatMap((replicas) =>
    ['200ms', '500ms', '2s', '4s', '7s', '12s', '50s'].map((at) => [replicas, at] as const),
  ),
)('%i replicas of a release that crashes %s after its start', (replicas, crashAfter) => {
  const { run, lines } = ran(
    scenarioIn(`
end: 1h
hosts: [{ name: node, count: 3 }]
services:
  - { name: web, replicas: ${replicas}, readiness: none, startAfter: 100ms, rollout: { autoRollback: true },
      releases: { good: {}, bad: { crashAfter: ${crashAfter} } } }
events: [{ at: 3m, update: { service: web, release: bad } }]
expect: [{ service: web, version: 3, release: good, status: HEALTHY, rollout: COMPLETED }]`),
  )
  expect(faultsOf(lines)).toEqual([])
  const watch = run.service('web')?.watch
  // Within minReadySeconds nothing of it counts as available, so no more is lost than may be unavailable.
  const least = replicas - Math.floor(replicas / 4)
  if (Number.parseFloat(crashAfter) < 5 || crashAfter.endsWith('ms')) expect(watch?.lowestAvailable).toBe(least)
})

test('a scenario has settings per release, as a profile has them per revision', () => {
  const [service] = scenarioIn(
    'end: 1m\nhosts: [{ name: node }]\nservices: [{ name: web, replicas: 1, releases: { v1: {}, v2: { readiness: none } } }]',
  ).services
  expect(service?.releases.map(({ settings }) => settings.minReadySeconds)).toEqual([0, 5])
})
