import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { change, createService } from '../support/drivers/apiService.ts'
import { HandRollout } from '../support/drivers/handRollout.ts'
import type { HandWorker } from '../support/drivers/handWorker.ts'
import { TestServer } from '../support/drivers/testServer.ts'
import { until } from '../support/fixtures/until.ts'

// Rollouts that end otherwise than by going well, or that stand still: each through the API of a whole server, with a worker whose processes
// do what the story says. What a rollout waits for is told from its first commit on.

let server: TestServer
let worker: HandWorker
beforeAll(async () => {
  ;({ server, worker } = await TestServer.withWorker('node1'))
})
afterAll(() => server.stop())

const readiness = { tcp: { port: 'http' } }

/** A service of a profile of its own name whose replicas are all available, on the one host. */
async function running(name: string, replicas: number, profile: Record<string, unknown> = {}): Promise<HandRollout> {
  await createService(server.client, name, replicas, { readiness, ...profile })
  const service = new HandRollout(server.client, worker, name)
  await service.completed(1)
  return service
}

const update = (service: HandRollout, release: string, input: Record<string, unknown> = {}) =>
  service.change('updateService', { command: ['serve', release], ...input })

/** How the ended replicas of a version ended. */
async function endsOf(name: string, version: number): Promise<readonly string[]> {
  const query = `query ($name: String!) { service(name: $name) {
    replicas(first: 100, filter: { states: [ENDED] }) { nodes { endReason version { number } } } } }`
  const { service } = await server.client.ask<{
    service: { replicas: { nodes: { endReason: string; version: { number: number } }[] } }
  }>(query, { name })
  return service.replicas.nodes.filter((row) => row.version.number === version).map(({ endReason }) => endReason)
}

describe('a version that crashes', () => {
  const backoff = { baseSeconds: 0, maxSeconds: 0 }

  test('old ones serve on, the blocker tells the failures from the first one on, CRASH_LOOP; a rollback removes the bad ones alone', async () => {
    const service = await running('crash', 4, { serviceDefaults: { backoff } })
    service.behaviours.set(2, 'gives up')
    const begun = await update(service, 'bad')
    expect(begun.rollout.blocker).toMatchObject({ count: 2, objects: [{ index: 3 }] })
    const looping = await service.actUntil('CRASH_LOOP', ({ status }) => status === 'CRASH_LOOP')
    expect(looping).toMatchObject({ availableReplicas: 3, version: { number: 2 } })
    expect(looping.rollout).toMatchObject({ state: 'ROLLING', availableReplicas: 0 })
    expect(looping.rollout.blocker).toMatchObject({
      reason: 'CRASH_LOOP',
      message: expect.stringMatching(
        /^Waiting for crash\[\d\].* failed .*: read (its log|their logs)(; resetBackoff tries (it|them) at once)?\.$/,
      ),
    })
    expect(looping.blockers[0]).toMatchObject({ reason: 'CRASH_LOOP' })
    const steps = await service.steps(2)
    expect(steps[0]).toBe('crash: rolling 1 → 2, 2 of 4 updated, waiting for crash[3] and 1 more to be placed.')
    expect(steps.findIndex((step) => step.includes('has failed once'))).toBeGreaterThan(0)
    expect(steps.findIndex((step) => step.includes('has failed once'))).toBeLessThan(
      steps.findIndex((step) => step.includes('again and again')),
    )

    service.behaviours.set(2, 'stays')
    const old = (await service.replicas()).filter(({ version }) => version.number === 1).map(({ id }) => id)
    expect(old).toHaveLength(3)
    await service.change('rollbackService')
    const back = await service.completed(3)
    expect(back).toMatchObject({
      status: 'HEALTHY',
      availableReplicas: 4,
      blockers: [],
      version: { sameContentAs: 1, origin: 'ROLLBACK' },
    })
    const kept = (await service.replicas()).map(({ id }) => id)
    expect(old.every((id) => kept.includes(id))).toBe(true)
    expect(await endsOf('crash', 1)).toEqual(['REPLACED_BY_ROLLOUT'])
  })

  test('the rollback is automatic where that is on, once, and the old ones are untouched', async () => {
    const service = await running('automatic', 4, { serviceDefaults: { backoff, rollout: { autoRollback: true } } })
    service.behaviours.set(2, 'exits')
    service.behaviours.set(3, 'unready')
    await update(service, 'bad')
    const back = await service.actUntil('rolled back', ({ rollout }) => rollout.number === 3)
    expect(back).toMatchObject({
      version: { origin: 'AUTO_ROLLBACK', sameContentAs: 1 },
      rollout: { automatic: true, from: { number: 1 }, to: { number: 3 } },
    })
    expect(await service.events()).toContain(
      'automatic is rolled back to version 1, as version 3: version 2 is in CRASH_LOOP.',
    )
    service.behaviours.set(3, 'ready')
    expect(await service.completed(3)).toMatchObject({ status: 'HEALTHY', availableReplicas: 4 })
    expect(await endsOf('automatic', 1)).toEqual(['REPLACED_BY_ROLLOUT'])
  })

  test('inside minReadySeconds: ready, never available, never complete; the blocker says until when', async () => {
    const service = await running('young', 2, { serviceDefaults: { backoff } })
    await update(service, 'bad', { settings: { rollout: { minReadySeconds: 1_000, progressDeadlineSeconds: 2_000 } } })
    for (const failures of [1, 2, 3]) {
      const ready = await service.actUntil(
        'the new one is ready',
        ({ rollout, readyReplicas }) => rollout.updatedReplicas === 1 && readyReplicas === 3,
      )
      expect(ready.rollout).toMatchObject({ availableReplicas: 0, oldReplicas: 2 })
      if (failures < 3) {
        expect(ready.rollout.blocker).toMatchObject({
          reason: 'MIN_READY',
          objects: [{ index: 2 }],
          until: expect.any(String),
          message: expect.stringContaining('to have been ready for 1000 s'),
        })
      }
      const fresh = (await service.replicas()).find(({ version }) => version.number === 2)
      await worker.report({ replica: fresh?.id ?? '', state: 'ENDED', endReason: 'EXITED' })
      const failed = await service.see()
      expect(failed.rollout.blocker?.message).toContain(`failed ${failures === 1 ? 'once' : `${failures} times`}`)
      expect(failed.availableReplicas).toBe(2)
    }
    expect(await service.see()).toMatchObject({
      status: 'CRASH_LOOP',
      availableReplicas: 2,
      rollout: { state: 'ROLLING', availableReplicas: 0 },
    })
  })
})

describe('a version that never gets ready', () => {
  test('is told at once, STALLED at the deadline, the old ones serve on; progress or a rollback ends it', async () => {
    const service = await running('never', 4)
    service.behaviours.set(2, 'unready')
    const deadline = { progressDeadlineSeconds: 2 }
    await update(service, 'bad')
    const waiting = await service.actUntil(
      'it waits for readiness',
      ({ rollout }) => rollout.blocker?.reason === 'WAITING_FOR_READY',
    )
    expect(waiting).toMatchObject({ status: 'PROGRESSING', rollout: { state: 'ROLLING' } })
    expect(waiting.rollout.blocker).toMatchObject({
      message: 'Waiting for never[3] and 1 more to become ready.',
      count: 2,
      objects: [{ index: 3 }],
    })
    expect(waiting.blockers).toMatchObject([{ reason: 'WAITING_FOR_READY', count: 2 }])
    await service.change('updateService', { settings: { rollout: deadline } })
    const stalled = await service.actUntil('STALLED', ({ status }) => status === 'STALLED')
    expect(stalled).toMatchObject({
      availableReplicas: 3,
      rollout: { state: 'STALLED', blocker: waiting.rollout.blocker },
    })
    expect(stalled.blockers[0]).toMatchObject({
      reason: 'PROGRESS_DEADLINE',
      message: 'Rollout 2 made no progress for 2 s: Waiting for never[3] and 1 more to become ready.',
    })
    expect(await service.events()).toContain(
      'Rollout 2 of never has made no progress for 2 s. Waiting for never[3] and 1 more to become ready.',
    )
    expect((await service.steps(2))[0]).toContain('waiting for never[3] and 1 more to be placed.')

    const old = (await service.replicas()).filter(({ version }) => version.number === 1).map(({ id }) => id)
    await service.change('rollbackService')
    await service.completed(3)
    const kept = (await service.replicas()).map(({ id }) => id)
    expect(old.every((id) => kept.includes(id))).toBe(true)

    // The same again, and this time the release comes up late.
    service.behaviours.set(4, 'unready')
    await update(service, 'slow', { settings: { rollout: deadline } })
    await service.actUntil('STALLED', ({ status }) => status === 'STALLED')
    service.behaviours.set(4, 'ready')
    expect(await service.completed(4)).toMatchObject({ status: 'HEALTHY', availableReplicas: 4, blockers: [] })
  })
})

describe('a version that needs what is not there', () => {
  const fixed = (port: number) => [{ name: 'http', port }]

  test('a fixed port on one host proceeds by the default limits, and the blocker tells who makes room', async () => {
    const service = await running('fixed', 1, { ports: fixed(9_001) })
    service.stops = false
    expect(await update(service, 'two')).toMatchObject({
      activeReplicas: 1,
      rollout: { maxSurge: 0, maxUnavailable: 1 },
    })
    const waiting = await service.seen('no port', ({ rollout }) => rollout.blocker?.reason === 'NO_PORT')
    expect(waiting.rollout.blocker?.message).toMatch(
      /^Waiting for a place for fixed\[0\]: No host has port 9001 free .* 1 replica of fixed is being stopped, which may make room\.$/,
    )
    service.stops = true
    expect(await service.completed(2)).toMatchObject({ status: 'HEALTHY', availableReplicas: 1 })
    expect(await endsOf('fixed', 1)).toEqual(['REPLACED_BY_ROLLOUT'])
  })

  const hint = 'None of the old ones may make room, because maxUnavailable is 0: allow 1 unavailable or'

  test.each(['profile', 'update'])(
    'under explicit u = 0 of the %s it explains itself, serves on, and what it says helps',
    async (by) => {
      const name = `none-${by}`
      const port = by === 'profile' ? 9_002 : 9_003
      const rollout = { maxUnavailable: 0 }
      const service = await running(name, 1, {
        ports: fixed(port),
        ...(by === 'profile' ? { serviceDefaults: { rollout } } : {}),
      })
      const begun = await update(service, 'two', by === 'update' ? { settings: { rollout } } : {})
      expect(begun).toMatchObject({
        availableReplicas: 1,
        activeReplicas: 2,
        rollout: { maxSurge: 1, maxUnavailable: 0, blocker: { reason: 'NO_PORT' } },
      })
      expect(begun.rollout.blocker?.message).toMatch(new RegExp(`${hint} add a host\\.$`))
      const stuck = await service.actUntil('no port', (seen) => seen.rollout.blocker?.reason === 'NO_PORT')
      expect(stuck).toMatchObject({
        status: 'PROGRESSING',
        availableReplicas: 1,
        rollout: { state: 'ROLLING', blocker: { objects: [{ index: 1 }, {}] } },
      })
      expect(stuck.rollout.blocker?.message).toMatch(
        new RegExp(
          `^Waiting for a place for ${name}\\[1\\]: No host has port ${port} free \\(1 host: .*\\)\\. .* ${hint} add a host\\.$`,
        ),
      )
      expect(stuck.blockers).toMatchObject([{ reason: 'NO_PORT', count: 1 }])
      await service.change('updateService', { settings: { rollout: { maxSurge: 0, maxUnavailable: 1 } } })
      expect(await service.completed(2)).toMatchObject({ status: 'HEALTHY', availableReplicas: 1 })
    },
  )

  test('more CPU than any host has: NO_CAPACITY, no automatic rollback at the deadline; a smaller revision goes through', async () => {
    const service = await running('large', 2, {
      serviceDefaults: { rollout: { autoRollback: true, progressDeadlineSeconds: 1 } },
    })
    await change(server.client, 'applyProfile', 'ApplyProfileInput', {
      name: 'large',
      command: ['serve'],
      ports: [{ name: 'http' }],
      readiness,
      cpuMillis: 900_000,
      memoryMiB: 16,
      serviceDefaults: { rollout: { autoRollback: true, progressDeadlineSeconds: 1 } },
    })
    await service.change('updateService', { profileRevision: 2 })
    const stuck = await service.seen('no capacity', ({ rollout }) => rollout.blocker?.reason === 'NO_CAPACITY')
    expect(stuck.rollout.blocker?.message).toContain('No host has room for 900000 CPU millis')
    expect(stuck.rollout.blocker?.message).toMatch(
      /No worker is that large: add a host with a worker that is, or ask for less\.$/,
    )
    expect(await service.actUntil('STALLED', ({ status }) => status === 'STALLED')).toMatchObject({
      availableReplicas: 2,
      version: { number: 2 },
      rollout: { blocker: { reason: 'NO_CAPACITY', since: stuck.rollout.blocker?.since } },
    })
    await service.change('updateService', { profileRevision: 1, command: ['serve', 'small'] })
    expect(await service.completed(3)).toMatchObject({ status: 'HEALTHY', version: { origin: 'UPDATE' } })
  })

  test('no host that takes replicas: NO_HOST; it goes on when one is there again', async () => {
    const service = await running('hostless', 2)
    await change(server.client, 'cordonHost', 'CordonHostInput', { host: { name: 'node1' } })
    try {
      expect((await update(service, 'two')).rollout.blocker?.reason).toBe('NO_HOST')
      const stuck = await service.seen('no host', ({ rollout }) => rollout.blocker?.reason === 'NO_HOST')
      expect(stuck).toMatchObject({
        availableReplicas: 2,
        rollout: { state: 'ROLLING', blocker: { count: 1, objects: [{ index: 2 }] } },
      })
      expect(stuck.rollout.blocker?.message).toMatch(
        /^Waiting for a place for hostless\[2\]: No host takes replicas \(1 host: 1 cordoned\)\. Start a worker on another host or uncordon one\.$/,
      )
    } finally {
      await change(server.client, 'uncordonHost', 'UncordonHostInput', { host: { name: 'node1' } })
    }
    expect(await service.completed(2)).toMatchObject({ status: 'HEALTHY', availableReplicas: 2 })
  })

  test('STRICT spread with no host left: by default it makes room, under explicit u = 0 it says SPREAD and what would help', async () => {
    const service = await running('spread', 1, { serviceDefaults: { spread: { mode: 'STRICT' } } })
    expect((await update(service, 'two')).rollout).toMatchObject({ maxSurge: 0, maxUnavailable: 1 })
    await service.completed(2)
    await update(service, 'three', { settings: { rollout: { maxUnavailable: 0 } } })
    const stuck = await service.actUntil('no host is left', ({ rollout }) => rollout.blocker?.reason === 'SPREAD')
    expect(stuck.rollout.blocker?.message).toMatch(
      new RegExp(`No host is left for another replica of spread, .* ${hint} add a host\\.$`),
    )
    await service.change('rollbackService')
    expect(await service.completed(4)).toMatchObject({ status: 'HEALTHY', availableReplicas: 1 })
  })

  test('quota: by default it makes room; under explicit u = 0 it says QUOTA, and goes on when the quota is raised', async () => {
    const project = 'small'
    const quota = (maxReplicas: number) =>
      change(server.client, 'applyProject', 'ApplyProjectInput', { name: project, maxReplicas })
    await quota(4)
    await change(server.client, 'applyProfile', 'ApplyProfileInput', {
      name: 'small',
      command: ['serve'],
      ports: [{ name: 'http' }],
      readiness,
    })
    await change(server.client, 'createService', 'CreateServiceInput', {
      name: 'small',
      project,
      profile: 'small',
      replicas: 4,
    })
    const service = new HandRollout(server.client, worker, 'small', project)
    await service.completed(1)
    await update(service, 'two')
    await service.completed(2)
    const begun = await update(service, 'three', { settings: { rollout: { maxUnavailable: 0 } } })
    expect(begun.rollout.blocker?.reason).toBe('QUOTA')
    const stuck = await service.actUntil('no quota', ({ rollout }) => rollout.blocker?.reason === 'QUOTA')
    expect(stuck).toMatchObject({ availableReplicas: 4, rollout: { state: 'ROLLING' } })
    expect(stuck.rollout.blocker?.message).toMatch(
      new RegExp(
        `^Waiting for a place for small\\[\\d\\]: Project small has 4 of at most 4 replicas\\. .* ${hint} raise the quota\\.$`,
      ),
    )
    await quota(5)
    expect(await service.completed(3)).toMatchObject({ status: 'HEALTHY', availableReplicas: 4 })
  })
})

describe('in the middle', () => {
  /** Begins a rollout and lets the worker report `acts` times, of one replica each. */
  async function begun(name: string, acts: number, replicas = 4): Promise<HandRollout> {
    const service = await running(name, replicas)
    await update(service, 'two')
    for (let act = 0; act < acts; act++) await until(() => service.act(1), `report ${act}`)
    return service
  }

  test.each([0, 1, 2])(
    'paused after %i reports no version steps, scaling and replacing go on, and resuming arms the deadline anew',
    async (acts) => {
      const name = `pause-${acts}`
      const service = await begun(name, acts, 6)
      service.lenient = true
      const running = await service.see()
      const paused = await service.change('pauseRollout')
      expect(paused).toMatchObject({ paused: true, status: 'PAUSED', rollout: { state: 'PAUSED', deadlineAt: null } })
      expect(paused.rollout.blocker).toMatchObject({
        reason: 'ROLLOUT_PAUSED',
        message: 'Rollout 2 is paused: resumeRollout lets it go on.',
      })
      const settled = await service.actUntil('all are ready', (seen) => seen.activeReplicas === seen.availableReplicas)
      const { updatedReplicas, oldReplicas } = settled.rollout
      const versions = async () =>
        (await service.replicas()).filter(({ state }) => state !== 'STOPPING').map(({ version }) => version.number)
      const before = await versions()

      const victim = (await service.replicas()).find(({ state }) => state === 'RUNNING')
      await change(server.client, 'killReplica', 'KillReplicaInput', { replica: { id: victim?.id } })
      await service.actUntil(
        'the killed one is replaced',
        (seen) => seen.availableReplicas === seen.activeReplicas && seen.activeReplicas === settled.activeReplicas,
      )
      expect((await versions()).toSorted()).toEqual(before.toSorted())

      await service.change('scaleService', { replicas: 10 })
      const scaled = await service.actUntil(
        '10 and the surge are available',
        (seen) => seen.availableReplicas === seen.activeReplicas && seen.desiredReplicas === 10,
      )
      expect(scaled).toMatchObject({ status: 'PAUSED', rollout: { state: 'PAUSED' } })
      expect(scaled.rollout.updatedReplicas).toBeGreaterThanOrEqual(updatedReplicas)
      expect(scaled.rollout.oldReplicas).toBeGreaterThanOrEqual(oldReplicas)
      expect(scaled.activeReplicas).toBeGreaterThanOrEqual(10)

      service.lenient = false
      const resumed = await service.change('resumeRollout')
      expect(Date.parse(resumed.rollout.deadlineAt ?? '')).toBeGreaterThan(Date.parse(running.rollout.deadlineAt ?? ''))
      expect(resumed).toMatchObject({ paused: false, rollout: { state: 'ROLLING', blocker: expect.anything() } })
      expect(await service.completed(2)).toMatchObject({ status: 'HEALTHY', availableReplicas: 10, activeReplicas: 10 })
    },
  )

  test('paused with nothing old left it completes when the last one is available, which ends the pause', async () => {
    const service = await begun('paused-late', 0)
    await service.actUntil('nothing old is left', ({ rollout }) => rollout.oldReplicas === 0, { most: 1 })
    const paused = await service.change('pauseRollout')
    expect(paused).toMatchObject({ status: 'PAUSED', rollout: { state: 'PAUSED', oldReplicas: 0 } })
    expect(await service.completed(2)).toMatchObject({ paused: false, status: 'HEALTHY', blockers: [] })
  })

  test('a third version supersedes the second, whose replicas that serve nobody go first', async () => {
    const service = await begun('third', 0)
    service.behaviours.set(2, 'unready')
    await service.actUntil('the second waits', ({ rollout }) => rollout.blocker?.reason === 'WAITING_FOR_READY')
    const third = await update(service, 'three')
    expect(third).toMatchObject({
      availableReplicas: 3,
      rollout: { number: 3, from: { number: 1 }, to: { number: 3 }, state: 'ROLLING' },
    })
    expect(await service.completed(3)).toMatchObject({ status: 'HEALTHY', availableReplicas: 4 })
    expect(
      (await service.replicas()).filter(({ state }) => state === 'RUNNING').map(({ version }) => version.number),
    ).toEqual([3, 3, 3, 3])
    expect((await service.steps(3))[0]).toMatch(/^third: rolling 1 → 3, \d of 4 updated, waiting for third\[\d\]/)
  })

  test('a replica killed by hand is replaced, and the rollout completes', async () => {
    for (const version of [1, 2]) {
      const service = await begun(`killed-${version}`, 1)
      service.lenient = true
      const victim = (await service.replicas()).find(
        (row) => row.version.number === version && row.state !== 'STOPPING',
      )
      await change(server.client, 'killReplica', 'KillReplicaInput', { replica: { id: victim?.id } })
      expect(await service.completed(2)).toMatchObject({
        status: 'HEALTHY',
        availableReplicas: 4,
        rollout: { state: 'COMPLETED' },
      })
    }
  })

  test('scaled to 0 it is complete; growing again starts at the target', async () => {
    const service = await begun('zero', 1)
    service.lenient = true
    expect(await service.change('scaleService', { replicas: 0 })).toMatchObject({
      status: 'STOPPED',
      rollout: { number: 2, state: 'COMPLETED', blocker: null },
    })
    await service.change('scaleService', { replicas: 3 })
    await service.actUntil('3 are available', ({ availableReplicas }) => availableReplicas === 3)
    expect(
      (await service.replicas()).filter(({ state }) => state === 'RUNNING').map(({ version }) => version.number),
    ).toEqual([2, 2, 2])
  })

  test('deleted, and created again under its name while nothing of the old one is left: no old history', async () => {
    const service = await begun('again', 1)
    await change(server.client, 'deleteService', 'DeleteServiceInput', { service: { name: 'again' } })
    await until(async () => {
      await service.act()
      return (await server.client.ask<{ service: unknown }>('{ service(name: "again") { id } }')).service === null
    }, 'the service is gone')
    await change(server.client, 'createService', 'CreateServiceInput', { name: 'again', profile: 'again', replicas: 1 })
    expect(await service.completed(1)).toMatchObject({ version: { number: 1 }, availableReplicas: 1 })
    await expect(service.change('rollbackService')).rejects.toThrow('INVALID_STATE')
    const history = '{ service(name: "again") { versions { nodes { number } } rollouts { nodes { number } } } }'
    expect(await server.client.ask(history)).toEqual({
      service: { versions: { nodes: [{ number: 1 }] }, rollouts: { nodes: [{ number: 1 }] } },
    })
  })

  test('a restart replaces all replicas by leaving, within the limits, at a new number', async () => {
    const service = await running('restart', 4)
    const before = (await service.replicas()).map(({ id }) => id)
    expect(await service.change('restartService')).toMatchObject({
      version: { number: 2, sameContentAs: 1, origin: 'RESTART' },
      rollout: { oldReplicas: 3 },
    })
    expect(await service.completed(2)).toMatchObject({ status: 'HEALTHY', availableReplicas: 4 })
    const after = (await service.replicas()).filter(({ state }) => state === 'RUNNING')
    expect(after.filter(({ id }) => before.includes(id))).toEqual([])
    expect(after.map(({ version }) => version.number)).toEqual([2, 2, 2, 2])
  })
})
