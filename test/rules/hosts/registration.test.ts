import { describe, expect, test } from 'vitest'
import { drainedReason, portsBackMessage } from '../../../src/rules/hosts/hostState.ts'
import {
  decideRegistration,
  identify,
  type Registering,
  type RegistrationView,
  type WorkerBefore,
} from '../../../src/rules/hosts/registration.ts'

/** Worker a registers on host n1, with its state directory. */
function registering(over: Partial<Registering> = {}): Registering {
  return {
    name: 'a',
    host: 'n1',
    stateDirectoryId: 'dir-a',
    registrationNumber: 6,
    subject: 'token',
    asAdmin: false,
    graceSeconds: 60,
    clean: true,
    cpuMillis: 1_000,
    memoryMiB: 100,
    portRange: { from: 20_000, to: 20_009 },
    ...over,
  }
}

function earlier(name: string, over: Partial<WorkerBefore> = {}): WorkerBefore {
  return {
    id: `id-of-worker-${name}`,
    name,
    host: 'n1',
    registrationNumber: 5,
    held: false,
    subject: 'token',
    stateDirectoryId: `dir-${name}`,
    epoch: 3,
    reachability: 'REACHABLE',
    reason: null,
    draining: false,
    cpuMillis: 10,
    memoryMiB: 1,
    ...over,
  }
}
const lost = (name: string, over: Partial<WorkerBefore> = {}) =>
  earlier(name, { reachability: 'LOST', reason: 'It was silent.', ...over })
const on = (host: string, worker: WorkerBefore) => ({ ...worker, host })

const freeAt = '12:01:15'

describe('who registers (R15)', () => {
  const a = earlier('a')
  test.each<[string, Partial<Registering>, WorkerBefore | null, readonly WorkerBefore[], string | null, string | null]>(
    [
      ['a new one', {}, null, [], null, null],
      ['the one that it was, started again', {}, on('n1', a), [a], 'a', null],
      [
        'the same by its state directory, under a new name',
        { stateDirectoryId: 'dir-b' },
        null,
        [earlier('b')],
        'b',
        null,
      ],
      ['the one that was lost', {}, on('n1', lost('a')), [lost('a')], 'a', null],
      ['the one that was lost on another host', {}, on('n2', lost('a')), [on('n2', lost('a'))], 'a', null],
      ['the one that is on another host', {}, on('n2', a), [on('n2', a)], 'a', null],
      [
        'one of another name on another host, by its state directory',
        { stateDirectoryId: 'dir-b' },
        null,
        [on('n2', earlier('b'))],
        'b',
        null,
      ],
      [
        'of two with its state directory, the one of this host',
        {},
        null,
        [on('n2', earlier('b')), earlier('c')],
        'c',
        null,
      ],
      [
        'of two with its state directory, both elsewhere, the newest',
        {},
        null,
        [on('n2', earlier('b')), on('n3', earlier('c'))],
        'b',
        null,
      ],
      [
        'another one, where the one of that name is lost',
        { stateDirectoryId: 'new' },
        on('n1', lost('a')),
        [],
        null,
        'a',
      ],
      [
        'a known one, under the name of one that is lost',
        { stateDirectoryId: 'dir-b' },
        on('n2', lost('a')),
        [earlier('b')],
        'b',
        'a',
      ],
      ['one of another token, by an admin', { subject: 'other', asAdmin: true }, on('n1', a), [a], 'a', null],
      ['a later registration', { registrationNumber: 6 }, a, [a], 'a', null],
      [
        'another state directory, which counts for itself',
        { stateDirectoryId: 'new', registrationNumber: 1 },
        lost('a'),
        [],
        null,
        'a',
      ],
    ],
  )('%s', (_what, over, named, alike, known, replaced) => {
    const who = identify(registering(over), named, alike, freeAt)
    expect(who).toMatchObject({
      kind: 'identified',
      known: known && { name: known },
      replaced: replaced && { name: replaced },
    })
  })

  // A name is no proof: what does not show the state directory of the one that has the name is another worker, whatever else it says.
  test.each<[string, string, Partial<WorkerBefore>]>([
    ['with another state directory', 'new', {}],
    ['with the name for a state directory', 'a', {}],
    ['with an empty one', '', {}],
    ['with another one, where the one of that name is silent', 'new', { reachability: 'UNREACHABLE' }],
    ['with an empty one, where the one of that name is silent', '', { reachability: 'UNREACHABLE' }],
  ])('refused: another one has the name, and this one comes %s', (_what, stateDirectoryId, over) => {
    const message =
      'A worker named a is registered already, with another state directory, on host n2: give this one another XCE_WORKER_NAME. If that one is gone for good: this one is taken when the lease and grace of that one are over, at 12:01:15, or earlier by confirmHostLoss of n2.'
    const refusal = { code: 'INVALID_INPUT', message, issues: [{ path: ['input', 'name'], message }] }
    const named = on('n2', earlier('a', over))
    for (const more of [{}, { asAdmin: true }, { registrationNumber: 1_000 }])
      expect(identify(registering({ stateDirectoryId, ...more }), named, [], freeAt)).toEqual({
        kind: 'refused',
        refusal,
      })
  })

  test('refused: only the brake keeps the one that has the name', () => {
    const named = on('n2', earlier('a', { reachability: 'UNREACHABLE', held: true }))
    expect(identify(registering({ stateDirectoryId: 'new' }), named, [], freeAt)).toMatchObject({
      refusal: {
        message: expect.stringMatching(/its grace is over, but too many .* only after confirmHostLoss of n2\.$/),
      },
    })
  })

  test('refused: it is another token’s, also by its state directory', () => {
    const message = 'Worker b was registered with another token: use that one, or another name and state directory.'
    const who = identify(registering({ stateDirectoryId: 'dir-b', subject: 'other' }), null, [earlier('b')], freeAt)
    expect(who).toEqual({ kind: 'refused', refusal: { code: 'FORBIDDEN', message } })
  })
})

test.each([4, 5])(
  'registration %i of a state directory of which number 5 was taken is overtaken, also under another name',
  (registrationNumber) => {
    const message = `Registration ${registrationNumber} of worker a comes late, or from an old copy of its state directory, of which number 5 was taken already: register with a number above that.`
    const overtaken = { kind: 'refused', refusal: { code: 'OVERTAKEN', message, newest: 5 } }
    const known = earlier('a')
    expect(identify(registering({ registrationNumber }), known, [known], freeAt)).toEqual(overtaken)
    expect(identify(registering({ registrationNumber }), null, [on('n2', { ...known, name: 'b' })], freeAt)).toEqual(
      overtaken,
    )
  },
)

type Registered = Extract<ReturnType<typeof decideRegistration>, { kind: 'registered' }>

/** What is left out: nobody is known, the host is new, nothing is kept. */
function decide({ worker = registering(), ...over }: Partial<RegistrationView> = {}) {
  return decideRegistration({
    worker,
    known: null,
    replaced: null,
    hasReplicasElsewhere: false,
    reportedEpoch: 0,
    host: null,
    isEmpty: false,
    keptFor: new Set(),
    keptElsewhere: [],
    ...over,
  })
}

/** What is left out: of a new worker, alone on an OPEN host. */
function registered({
  host,
  ...over
}: Partial<Omit<Registered, 'host'>> & { readonly host?: Partial<Registered['host']> } = {}) {
  return {
    kind: 'registered',
    host: { scheduling: 'OPEN', reachability: 'REACHABLE', reason: null, cpuMillis: 1_000, memoryMiB: 100, ...host },
    speaksForHost: true,
    epoch: 1,
    reachability: 'REACHABLE',
    reason: null,
    forgotten: [],
    aside: null,
    message: 'Worker a registered on host n1 (epoch 1): 1000 CPU millis, 100 MiB, ports 20000–20009.',
    elsewhere: [],
    ...over,
  }
}

const offer = '1000 CPU millis, 100 MiB, ports 20000–20009.'
const stale = 'It runs replicas that have been replaced, and takes no others before those have stopped.'
const uncleanReason =
  'It is back after it was lost, and has to stop what was replaced meanwhile before it takes new replicas.'
const unclean = { reachability: 'LOST', reason: uncleanReason } as const
const hostOf = (...workers: readonly WorkerBefore[]) => ({ scheduling: 'OPEN', isRemoved: false, workers }) as const
const forgotten =
  'Worker a of host n2 is forgotten: it was lost, nothing is kept for it, and a worker of host n1 has its name.'
const alone = `Worker a registered on host n1 (epoch 4): ${offer}`
const beside = `Worker a registered on host n1, one of 2 workers there (epoch 1): ${offer}`

describe('a registration (R15)', () => {
  test.each<[string, Partial<RegistrationView>, Parameters<typeof registered>[0]]>([
    ['of a new worker on a new host', {}, {}],
    [
      'of one that is started again',
      { known: earlier('a'), host: hostOf(earlier('a', { draining: true })) },
      { epoch: 4, message: alone },
    ],
    [
      'is above all that was said of its replicas',
      { known: earlier('a'), host: hostOf(earlier('a')), reportedEpoch: 7 },
      { epoch: 8, message: `Worker a registered on host n1 (epoch 8): ${offer}` },
    ],
    [
      'beside another one',
      { host: hostOf(earlier('b')) },
      { host: { cpuMillis: 1_010, memoryMiB: 101 }, message: beside },
    ],
    [
      'beside another one that is silent',
      { host: hostOf(earlier('b', { reachability: 'UNREACHABLE' })) },
      { host: { cpuMillis: 1_010, memoryMiB: 101, reason: "Of its 2 workers b can't be reached." }, message: beside },
    ],
    ['beside a lost one that nothing is kept for', { host: hostOf(lost('b')) }, { forgotten: ['id-of-worker-b'] }],
    [
      'beside a lost one that ports are kept for',
      { host: hostOf(lost('b')), keptFor: new Set(['id-of-worker-b']) },
      {},
    ],
    [
      'on a host that is being drained',
      { known: earlier('a'), host: { ...hostOf(earlier('a')), scheduling: 'DRAINING' } },
      {
        host: {
          scheduling: 'DRAINING',
          reason: 'It is being drained: its replicas are replaced elsewhere, until uncordonHost.',
        },
        epoch: 4,
        message: alone,
      },
    ],
    [
      'on a host that is drained',
      { host: { ...hostOf(), scheduling: 'DRAINING' }, isEmpty: true },
      { host: { scheduling: 'DRAINING', reason: drainedReason } },
    ],
    [
      'on a removed host begins it anew',
      { host: { scheduling: 'DRAINING', isRemoved: true, workers: [] }, isEmpty: true },
      {},
    ],
    [
      'of a lost one that runs nothing',
      { worker: registering({ clean: true }), known: lost('a'), host: hostOf(lost('a')) },
      { epoch: 4, message: alone },
    ],
    [
      'of a lost one that runs something',
      { worker: registering({ clean: false }), known: lost('a'), host: hostOf(lost('a')) },
      { host: { ...unclean, cpuMillis: 0, memoryMiB: 0 }, ...unclean, epoch: 4, message: `${alone} ${stale}` },
    ],
    [
      'of one that nobody knows any more, and that runs something',
      { worker: registering({ clean: false }), host: hostOf(earlier('b')) },
      {
        ...unclean,
        host: { cpuMillis: 10, memoryMiB: 1 },
        speaksForHost: false,
        message: `Worker a registered on host n1 (epoch 1): ${offer} ${stale}`,
      },
    ],
    [
      'of one that is to be clean first speaks for a host that nobody else speaks for',
      {
        worker: registering({ clean: false }),
        host: hostOf(earlier('b', { reachability: 'UNREACHABLE', reason: 'It is silent.' })),
      },
      {
        ...unclean,
        host: { reachability: 'UNREACHABLE', reason: 'It is silent.', cpuMillis: 10, memoryMiB: 1 },
        message: `Worker a registered on host n1 (epoch 1): ${offer} ${stale}`,
      },
    ],
    [
      'under the name of a lost one that nothing is kept for, on this host',
      { replaced: lost('a'), host: hostOf(lost('a')) },
      { forgotten: ['id-of-worker-a'] },
    ],
    [
      'under the name of a lost one that nothing is kept for, on another host',
      { replaced: on('n2', lost('a')) },
      { forgotten: ['id-of-worker-a'], elsewhere: [{ host: 'n2', message: forgotten }] },
    ],
    [
      'under the name of a lost one that something is kept for, on another host',
      { replaced: on('n2', lost('a')), keptFor: new Set(['id-of-worker-a']) },
      {
        aside: { id: 'id-of-worker-a', name: 'a.lost-worker-a' },
        elsewhere: [
          {
            host: 'n2',
            message:
              'Worker a of host n2 is named a.lost-worker-a now: it is lost, and a worker of host n1 has its name.',
          },
        ],
      },
    ],
    [
      'of one that comes from another host, and runs nothing',
      { worker: registering({ clean: true }), known: on('n2', lost('a')), keptElsewhere: ['n2', 'n3'] },
      {
        epoch: 4,
        message: alone,
        elsewhere: [
          { host: 'n2', message: `Worker a of host n2 is on host n1 now. ${portsBackMessage('n2')}` },
          { host: 'n3', message: portsBackMessage('n3') },
        ],
      },
    ],
    [
      'of one that comes from another host, and runs something',
      { worker: registering({ clean: false }), known: on('n2', lost('a')), keptElsewhere: ['n2'] },
      {
        ...unclean,
        host: { ...unclean, cpuMillis: 0, memoryMiB: 0 },
        epoch: 4,
        message: `${alone} ${stale}`,
        elsewhere: [{ host: 'n2', message: 'Worker a of host n2 is on host n1 now.' }],
      },
    ],
    [
      'under the name of a lost one that something is kept for',
      { replaced: lost('a'), host: hostOf(lost('a')), keptFor: new Set(['id-of-worker-a']) },
      { aside: { id: 'id-of-worker-a', name: 'a.lost-worker-a' } },
    ],
  ])('%s', (_what, view, next) => {
    expect(decide(view)).toEqual(registered(next))
  })

  test('is refused while it is on another host', () => {
    const message = 'Worker b is still on host n2: register again in a moment.'
    const refusal = { code: 'INVALID_INPUT', message, issues: [{ path: ['input', 'name'], message }] }
    expect(decide({ known: on('n2', earlier('b')) })).toEqual({ kind: 'refused', refusal })
  })

  test('is refused while it has replicas on another host', () => {
    const message = 'Worker a has replicas on another host, which are being replaced: register again in a moment.'
    const refusal = { code: 'INVALID_INPUT', message, issues: [{ path: ['input', 'name'], message }] }
    expect(decide({ known: lost('a'), hasReplicasElsewhere: true })).toEqual({ kind: 'refused', refusal })
  })
})
