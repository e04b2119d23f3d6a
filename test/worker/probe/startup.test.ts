import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Probe } from '../../../src/model/content.ts'
import { type ProbeResult, watchProbe } from '../../../src/worker/probe/watchProbe.ts'
import { assignmentOf, httpProbe, Supervision } from '../../support/drivers/supervision.ts'
import { until } from '../../support/fixtures/until.ts'

let supervision: Supervision
beforeEach(() => {
  supervision = new Supervision()
})
afterEach(async () => {
  await supervision.dispose()
})

const flag = (name: string): string => path.join(supervision.directory, name)
const asked = (name: string): number =>
  existsSync(`${flag(name)}.asked`) ? readFileSync(`${flag(name)}.asked`, 'utf8').length : 0

/** Succeeds when there is a file of this name, and writes down how often it was asked. */
function flagProbe(name: string, over: Partial<Probe> = {}): Probe {
  const command = ['sh', '-c', `printf x >> ${flag(name)}.asked; test -f ${flag(name)}`]
  return httpProbe({ action: { kind: 'exec', command }, ...over })
}

test('the other probes wait for the startup probe; so does readiness where there is no probe of it', async () => {
  const patient = { failureThreshold: 1_000 }
  const probed = assignmentOf({
    startup: flagProbe('started', patient),
    readiness: flagProbe('ready'),
    liveness: flagProbe('alive', patient),
  })
  const plain = assignmentOf({ startup: flagProbe('started', patient) })
  supervision.supervisor.assign(probed)
  supervision.supervisor.assign(plain)
  await until(() => asked('started') > 5, 'the startup probes were asked more often than once a period')
  expect([asked('ready'), asked('alive')]).toEqual([0, 0])
  expect(supervision.story(plain.replica)).toEqual(['1 STARTING', '1 RUNNING'])
  writeFileSync(flag('started'), '')
  await supervision.report(plain.replica, { ready: true })
  await until(() => asked('ready') > 0 && asked('alive') > 0, 'the others are asked')
  expect(supervision.reports.some(({ replica, ready }) => replica === probed.replica && ready)).toBe(false)
  const before = asked('started')
  writeFileSync(flag('ready'), '')
  await supervision.report(probed.replica, { ready: true })
  expect(asked('started')).toBe(before)
  expect(supervision.story(plain.replica)).toEqual(['1 STARTING', '1 RUNNING', '1 RUNNING ready'])
})

test('a start that fails its startup probe is restarted in place, at last GAVE_UP', async () => {
  const assignment = assignmentOf({
    startup: flagProbe('started', { failureThreshold: 1 }),
    liveness: flagProbe('alive'),
    restart: { mode: 'ALWAYS', maxAttempts: 1, windowSeconds: 600, delaySeconds: 0 },
  })
  supervision.supervisor.assign(assignment)
  const restarted = await supervision.report(assignment.replica, { start: 2, state: 'STARTING' })
  expect(restarted.message).toBe('Its startup probe failed: sh exited with code 1.')
  const end = await supervision.report(assignment.replica, { state: 'ENDED' })
  expect(end).toMatchObject({ start: 2, endReason: 'GAVE_UP' })
  expect(asked('alive')).toBe(0)
})

test('the next worker knows what has started, and asks again what has not', async () => {
  const patient = { failureThreshold: 1_000 }
  const assignment = assignmentOf({ startup: flagProbe('started', patient), readiness: flagProbe('ready', patient) })
  supervision.supervisor.assign(assignment)
  await until(() => asked('started') > 0, 'it is asked')
  await supervision.reopen()
  const before = asked('started')
  await until(() => asked('started') > before, 'it is asked by the next worker')
  writeFileSync(flag('started'), '')
  await until(() => asked('ready') > 0, 'it has started')
  await supervision.reopen()
  const [started, ready] = [asked('started'), asked('ready')]
  await until(() => asked('ready') > ready, 'its readiness is asked by the third worker')
  expect(asked('started')).toBe(started)
})

test('probes that come more often than the period fail no sooner: of the failures of a period one counts', async () => {
  const probe = httpProbe({ periodSeconds: 0.1, failureThreshold: 3 })
  const probing = new AbortController()
  let results = 0
  let first = 0
  const failedAfter = await new Promise<number>((resolve) => {
    const check = async (): Promise<string> => {
      first ||= performance.now()
      return 'no'
    }
    const onResult = ({ changed }: ProbeResult): void => {
      results++
      if (changed) resolve(performance.now() - first)
    }
    void watchProbe({
      probe,
      check,
      healthy: true,
      eager: true,
      ageSeconds: 0,
      onResult,
      signal: probing.signal,
    })
  })
  probing.abort()
  expect(failedAfter).toBeGreaterThanOrEqual(199)
  expect(results).toBeGreaterThan(3)
})
