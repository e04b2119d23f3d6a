import { createSocket } from 'node:dgram'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { PortOfHost } from '../../../src/model/watchedPort.ts'
import { PortWatch } from '../../../src/worker/link/portWatch.ts'
import { freePort } from '../../support/fixtures/freePort.ts'
import { listenOn } from '../../support/fixtures/listenOn.ts'
import { until } from '../../support/fixtures/until.ts'

let watch: PortWatch
beforeEach(() => {
  watch = new PortWatch()
})
afterEach(() => watch.close())

/** Collects what the watch finds, from now on. */
function collect(): PortOfHost[] {
  const found: PortOfHost[] = []
  void (async () => {
    for (;;) found.push(...(await watch.freed()))
  })()
  return found
}

test('of the watched ports those are told that nobody has any more, once each', async () => {
  const [kept, left, udp] = [await freePort(), await freePort(), await freePort()]
  await listenOn(kept)
  const close = await listenOn(left, '127.0.0.1')
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(udp, resolve))
  const found = collect()
  watch.replace([
    { port: kept, protocol: 'TCP', seconds: 600 },
    { port: left, protocol: 'TCP', seconds: 600 },
    { port: udp, protocol: 'UDP', seconds: 600 },
  ])
  await close()
  await until(() => found.length === 1, 'one is free')
  expect(found).toEqual([{ port: left, protocol: 'TCP' }])
  await new Promise<void>((resolve) => socket.close(resolve))
  await until(() => found.length === 2, 'another one is free')
  expect(found[1]).toEqual({ port: udp, protocol: 'UDP' })
})

test('a port that is free by the time it is to be watched is told at once, and again when no server took note', async () => {
  const port = { port: await freePort(), protocol: 'TCP' as const }
  watch.replace([{ ...port, seconds: 600 }])
  expect(await watch.freed()).toEqual([port])
  const next = watch.freed()
  watch.putBack([port])
  expect(await next).toEqual([port])
})

test('nothing is watched for longer than its quarantine, nor when there is nothing to watch', async () => {
  const port = await freePort()
  await listenOn(port)
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  onTestFinished(() => watch.close())
  watch.replace([{ port, protocol: 'TCP', seconds: 0 }])
  await until(() => !watch.isWatching, 'its quarantine is over')
  const before = timers()
  watch.replace([])
  expect(watch.isWatching).toBe(false)
  expect(timers()).toBeLessThanOrEqual(before)
})
