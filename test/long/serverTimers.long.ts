import { describe, expect, test, vi } from 'vitest'
import type { TimerKind } from '../../src/generated/prisma/enums.ts'
import { createService } from '../support/drivers/apiService.ts'
import { type HostScene, hostScenes } from '../support/drivers/hostScene.ts'
import { program } from '../support/fixtures/processes.ts'
import { until } from '../support/fixtures/until.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

const start = hostScenes()

/** `done`: what the timer brings about, in SQL; $1 is when it was due. */
const stories: readonly {
  readonly kind: TimerKind
  readonly profile: Record<string, unknown>
  readonly done: string
}[] = [
  {
    kind: 'MIN_READY',
    profile: { command: program('runs'), serviceDefaults: { rollout: { minReadySeconds: 6 } } },
    done: 'SELECT "availableReplicas" = 1 AS done FROM "Service"',
  },
  {
    kind: 'BACKOFF',
    profile: {
      command: program('exits-at-once'),
      restart: { maxAttempts: 0 },
      serviceDefaults: { backoff: { baseSeconds: 8, maxSeconds: 8 } },
    },
    done: `SELECT NOT EXISTS (SELECT FROM "Replica" WHERE "state" = 'PENDING' AND "notBefore" <= $1) AS done`,
  },
  {
    kind: 'PROGRESS_DEADLINE',
    profile: {
      command: program('runs'),
      readiness: { tcp: { port: 'http' }, periodSeconds: 1 },
      serviceDefaults: { rollout: { progressDeadlineSeconds: 8 } },
    },
    done: `SELECT "status" = 'STALLED' AS done FROM "Service"`,
  },
  {
    kind: 'WATCH',
    profile: { command: program('runs'), serviceDefaults: { rollout: { autoRollback: true, watchSeconds: 8 } } },
    done: `SELECT "state" = 'COMPLETED' AND "watchUntil" IS NULL AS done FROM "Rollout"`,
  },
]

describe.each(stories)('the timer $kind', ({ kind, profile, done }) => {
  /** Arms it through the first of so many servers, and kills that before it fires. Returns when it is due. */
  async function armAndKill(servers: number): Promise<{ scene: HostScene; dueAt: Date }> {
    const scene = await start(5, 60, { servers })
    const { prisma } = await scene.open()
    await scene.worker('a')
    await createService(scene.client, 'web', 1, { ports: [{ name: 'http' }], ...profile })
    const timer = await until(
      () => prisma.timer.findFirst({ where: { kind, dueAt: { gt: new Date(Date.now() + 2_000) } } }),
      'it is armed',
      60,
    )
    await scene.server.end('SIGKILL')
    expect(await prisma.timer.findFirst({ where: { kind } })).toEqual(timer)
    const [row] = await prisma.$queryRaw<{ early: boolean }[]>`SELECT clock_timestamp() < ${timer.dueAt} AS early`
    expect(row?.early).toBe(true)
    return { scene, dueAt: timer.dueAt }
  }

  /** How long after its time it has done its work, in milliseconds. */
  async function fired({ scene, dueAt }: { readonly scene: HostScene; readonly dueAt: Date }): Promise<number> {
    const { prisma } = await scene.open()
    const query = `SELECT d.done, (extract(epoch FROM clock_timestamp() - $1) * 1000)::float8 AS late FROM (${done}) d`
    const { late } = await until(async () => {
      const [row] = await prisma.$queryRawUnsafe<{ done: boolean; late: number }[]>(query, dueAt)
      return row?.done ? row : null
    }, 'it has fired')
    return late
  }

  test('is armed, the only server is killed, and started again after it was due', async () => {
    const armed = await armAndKill(1)
    const { scene, dueAt } = armed
    const { prisma } = await scene.open()
    await until(async () => {
      const [row] = await prisma.$queryRaw<{ over: boolean }[]>`SELECT clock_timestamp() > ${dueAt} AS over`
      return row?.over
    }, 'it is due')
    await scene.server.start()
    await fired(armed)
  })

  test('is armed by a server that is killed: the other one fires it in time', async () => {
    const late = await fired(await armAndKill(2))
    console.log(`${kind} was fired by the other server ${Math.round(late)} ms after its time.`)
    expect(late).toBeGreaterThan(0)
    expect(late).toBeLessThan(3_000)
  })
})
