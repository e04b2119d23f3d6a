import { expect, test } from 'vitest'
import type { Content, Probe } from '../../../src/model/content.ts'
import { mergeContent, noOverrides, sameContent } from '../../../src/rules/version/content.ts'

const variable = (name: string, value: string, secret = false) => ({ name, value, secret })
const probe = (action: Probe['action']): Probe => ({
  action,
  initialDelaySeconds: 0,
  periodSeconds: 5,
  timeoutSeconds: 1,
  failureThreshold: 3,
  successThreshold: 1,
})
const get = { kind: 'http', port: 'http', path: '/', scheme: 'HTTP', headers: [{ name: 'A', value: 'b' }] } as const
const base: Content = {
  command: ['serve', '--verbose'],
  env: [variable('A', '1'), variable('B', '2', true)],
  workingDirectory: '/srv',
  ports: [
    { name: 'http', port: null, protocol: 'TCP' },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ],
  cpuMillis: 500,
  memoryMiB: 256,
  startup: null,
  readiness: probe({ ...get, path: '/ready' }),
  liveness: probe({ kind: 'exec', command: ['check', 'all'] }),
  restart: { mode: 'ALWAYS', maxAttempts: 3, windowSeconds: 300, delaySeconds: 1 },
  stop: { signal: 'TERM', drainSeconds: 3, graceSeconds: 10, onLostContact: 'KEEP' },
}

test('overrides replace in place, hide and append in their order', () => {
  const merged = mergeContent(base, {
    ...noOverrides,
    command: ['other'],
    env: [
      { name: 'Z', value: 'last', secret: false },
      { name: 'A', value: 'one', secret: true },
      { name: 'Y', value: '', secret: false },
    ],
    unsetEnv: ['B', 'MISSING'],
  })
  expect(merged).toEqual({
    ...base,
    command: ['other'],
    env: [variable('A', 'one', true), variable('Z', 'last'), variable('Y', '')],
  })
})

test('without overrides the content is the profile’s', () => {
  expect(mergeContent(base, noOverrides)).toEqual(base)
})

test('the order of variables and ports means nothing', () => {
  const copy = structuredClone(base)
  expect(sameContent(base, copy)).toBe(true)
  expect(sameContent(base, { ...copy, env: [...copy.env].reverse(), ports: [...copy.ports].reverse() })).toBe(true)
})

const { readiness, liveness } = base
const differences: Record<string, Content> = {
  command: { ...base, command: ['serve'] },
  'order of the command': { ...base, command: ['--verbose', 'serve'] },
  'words of the command': { ...base, command: ['serve --verbose'] },
  'variable value': { ...base, env: [variable('A', '1 '), variable('B', '2', true)] },
  'variable name': { ...base, env: [variable('a', '1'), variable('B', '2', true)] },
  'variable secret': { ...base, env: [variable('A', '1'), variable('B', '2')] },
  'variable more': { ...base, env: [...base.env, variable('C', '')] },
  'variable less': { ...base, env: [variable('A', '1')] },
  directory: { ...base, workingDirectory: null },
  'port name': { ...base, ports: [{ name: 'web', port: null, protocol: 'TCP' }, ...base.ports.slice(1)] },
  'port fixed': { ...base, ports: [{ name: 'http', port: 80, protocol: 'TCP' }, ...base.ports.slice(1)] },
  'port protocol': { ...base, ports: [{ name: 'http', port: null, protocol: 'UDP' }, ...base.ports.slice(1)] },
  'port less': { ...base, ports: base.ports.slice(1) },
  cpu: { ...base, cpuMillis: 501 },
  memory: { ...base, memoryMiB: 257 },
  'readiness gone': { ...base, readiness: null },
  'readiness path': { ...base, readiness: probe({ ...get, path: '/' }) },
  'readiness scheme': { ...base, readiness: probe({ ...get, path: '/ready', scheme: 'HTTPS' }) },
  'readiness header': { ...base, readiness: probe({ ...get, path: '/ready', headers: [{ name: 'A', value: 'c' }] }) },
  'readiness header name': {
    ...base,
    readiness: probe({ ...get, path: '/ready', headers: [{ name: 'B', value: 'b' }] }),
  },
  'readiness headers gone': { ...base, readiness: probe({ ...get, path: '/ready', headers: [] }) },
  'startup there': { ...base, startup: base.liveness },
  'readiness kind': { ...base, readiness: probe({ kind: 'tcp', port: 'http' }) },
  'liveness command': { ...base, liveness: probe({ kind: 'exec', command: ['check'] }) },
  'probe period': { ...base, readiness: readiness && { ...readiness, periodSeconds: 6 } },
  'probe delay': { ...base, readiness: readiness && { ...readiness, initialDelaySeconds: 6 } },
  'probe timeout': { ...base, readiness: readiness && { ...readiness, timeoutSeconds: 6 } },
  'probe failures': { ...base, liveness: liveness && { ...liveness, failureThreshold: 6 } },
  'probe successes': { ...base, liveness: liveness && { ...liveness, successThreshold: 6 } },
  'restart mode': { ...base, restart: { ...base.restart, mode: 'NEVER' } },
  'restart attempts': { ...base, restart: { ...base.restart, maxAttempts: 4 } },
  'restart window': { ...base, restart: { ...base.restart, windowSeconds: 4 } },
  'restart delay': { ...base, restart: { ...base.restart, delaySeconds: 4 } },
  'stop signal': { ...base, stop: { ...base.stop, signal: 'INT' } },
  'stop drain': { ...base, stop: { ...base.stop, drainSeconds: 4 } },
  'stop grace': { ...base, stop: { ...base.stop, graceSeconds: 4 } },
  'stop on lost contact': { ...base, stop: { ...base.stop, onLostContact: 'STOP' } },
}

test.each(Object.entries(differences))('another %s is other content', (_, other) => {
  expect(sameContent(base, other)).toBe(false)
  expect(sameContent(other, base)).toBe(false)
  expect(sameContent(other, structuredClone(other))).toBe(true)
})
