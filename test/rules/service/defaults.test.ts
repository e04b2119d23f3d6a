import { expect, test } from 'vitest'
import { givenSettings, probeWith, restartWith, settingsWith, stopWith } from '../../../src/rules/service/defaults.ts'
import { settingsIssues } from '../../../src/rules/service/settings.ts'
import { content } from '../../support/fixtures/services.ts'

const quarter = { percent: 25 }
const none = { count: 0 }
const probed = content({ ports: [] })
const unprobed = content({ ports: [], readiness: null })
const fixed = content({ ports: [{ name: 'web', port: 8080, protocol: 'TCP' }] })

test('a profile that says nothing', () => {
  expect(settingsWith({}, probed)).toEqual({
    replicas: 1,
    spreadMode: 'BEST_EFFORT',
    maxPerHost: 1,
    maxSurge: quarter,
    maxUnavailable: quarter,
    minReadySeconds: 0,
    progressDeadlineSeconds: 600,
    autoRollback: false,
    watchSeconds: 60,
    backoffBaseSeconds: 10,
    backoffMaxSeconds: 300,
    backoffResetAfterSeconds: 600,
  })
  expect(restartWith({})).toEqual({ mode: 'ALWAYS', maxAttempts: 3, windowSeconds: 600, delaySeconds: 1 })
  expect(stopWith({})).toEqual({ signal: 'TERM', drainSeconds: 3, graceSeconds: 10, onLostContact: 'KEEP' })
  expect(probeWith({ kind: 'tcp', port: 'web' }, {})).toEqual({
    action: { kind: 'tcp', port: 'web' },
    initialDelaySeconds: 0,
    periodSeconds: 10,
    timeoutSeconds: 1,
    failureThreshold: 3,
    successThreshold: 1,
  })
})

test('what is said is kept, also 0 and false; null is not said', () => {
  const said = givenSettings({
    replicas: 0,
    spread: { mode: 'NONE', maxPerHost: null },
    rollout: { maxSurge: { count: 2 }, minReadySeconds: 0, autoRollback: false },
    backoff: { baseSeconds: 0, maxSeconds: null },
  })
  expect(said).toEqual({
    replicas: 0,
    spreadMode: 'NONE',
    maxSurge: { count: 2 },
    minReadySeconds: 0,
    autoRollback: false,
    backoffBaseSeconds: 0,
  })
  expect(settingsWith(said, probed)).toEqual({ ...settingsWith({}, probed), ...said })
  expect(stopWith({ drainSeconds: 0, signal: null })).toMatchObject({ drainSeconds: 0, signal: 'TERM' })
})

test('R9: without a readiness probe a replica has to be ready for 5 s, unless something else is said', () => {
  expect(settingsWith({}, unprobed)).toEqual({ ...settingsWith({}, probed), minReadySeconds: 5 })
  expect(settingsWith({ minReadySeconds: 0 }, unprobed).minReadySeconds).toBe(0)
  expect(settingsWith({ minReadySeconds: 7 }, unprobed).minReadySeconds).toBe(7)
  // The default is judged beside a deadline that is said.
  const said = { progressDeadlineSeconds: 5 }
  expect(settingsIssues(settingsWith(said, probed), said)).toEqual([])
  expect(settingsIssues(settingsWith(said, unprobed), said)).toMatchObject([
    { path: ['rollout', 'progressDeadlineSeconds'], message: expect.stringContaining('minReadySeconds 5') },
  ])
})

test('R1: no surge beside what cannot stand side by side, unless none may be unavailable', () => {
  expect(settingsWith({}, fixed)).toMatchObject({ maxSurge: { percent: 0 }, maxUnavailable: quarter })
  expect(settingsWith({ spreadMode: 'STRICT' }, probed)).toMatchObject({
    maxSurge: { percent: 0 },
    maxUnavailable: quarter,
  })
  expect(settingsWith({ maxUnavailable: none }, fixed)).toMatchObject({ maxSurge: quarter, maxUnavailable: none })
  expect(settingsWith({ maxSurge: { count: 1 }, maxUnavailable: none }, fixed)).toMatchObject({
    maxSurge: { count: 1 },
  })
})

test('what is wrong is said of the field that was said, and of both at once where both were', () => {
  const settings = settingsWith({}, probed)
  const pathsOf = (said: Parameters<typeof settingsIssues>[1], before = settings) =>
    settingsIssues({ ...before, ...said }, said).map(({ path }) => path.join('.'))
  expect(pathsOf({ maxSurge: none, maxUnavailable: none })).toEqual(['rollout'])
  expect(pathsOf({ maxSurge: none }, { ...settings, maxUnavailable: none })).toEqual(['rollout.maxSurge'])
  expect(pathsOf({ maxUnavailable: none }, { ...settings, maxSurge: none })).toEqual(['rollout.maxUnavailable'])
  expect(pathsOf({ minReadySeconds: 600 })).toEqual(['rollout.minReadySeconds'])
  expect(pathsOf({ minReadySeconds: 9, progressDeadlineSeconds: 9 })).toEqual(['rollout.progressDeadlineSeconds'])
  expect(pathsOf({ backoffBaseSeconds: 301 })).toEqual(['backoff.baseSeconds'])
  expect(pathsOf({ backoffBaseSeconds: 2, backoffMaxSeconds: 1 })).toEqual(['backoff.maxSeconds'])
  // What is wrong already is not the saying of something else.
  expect(pathsOf({ autoRollback: true }, { ...settings, maxSurge: none, maxUnavailable: none })).toEqual([])
  // What is not known is not judged.
  expect(settingsIssues({ minReadySeconds: 900 }, { minReadySeconds: 900 })).toEqual([])
})
