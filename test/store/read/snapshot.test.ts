import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { ReplicaId, ServiceId } from '../../../src/model/id.ts'
import type { Reporter } from '../../../src/model/intent.ts'
import { comparable, TestStore } from '../../support/drivers/store.ts'
import { eachDatabase } from '../../support/fixtures/databases.ts'
import { pauseIntent, restartIntent, resumeIntent, rollbackTo, updateTo } from '../../support/fixtures/rollouts.ts'
import { reportOf } from '../../support/fixtures/services.ts'

type Step =
  | { readonly do: 'scale'; readonly to: number }
  | { readonly do: 'place' }
  | { readonly do: 'ready' | 'unready' | 'end' | 'taken' | 'kill'; readonly nth: number }
  | { readonly do: 'update'; readonly nth: number }
  | { readonly do: 'tick' | 'reset' | 'delete' | 'restart' | 'rollback' | 'pause' | 'resume' }

const nth = fc.nat({ max: 5 })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('scale' as const), to: fc.nat({ max: 6 }) }) },
  { weight: 4, arbitrary: fc.constant<Step>({ do: 'place' }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('ready', 'unready', 'end', 'taken', 'kill'),
      nth,
    }) as fc.Arbitrary<Step>,
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('update' as const), nth }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step>({ do: 'restart' }, { do: 'rollback' }, { do: 'pause' }, { do: 'resume' }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'tick' }, { do: 'reset' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'delete' }) },
)

eachDatabase((database) => {
  let store: TestStore
  let worker: Reporter
  let sequence = 0
  beforeAll(async () => {
    store = await TestStore.on(database())
    worker = await store.register()
  })

  const report = async (id: ServiceId, replica: ReplicaId, over: Parameters<typeof reportOf>[1]) => {
    const known = (await store.load(id)).replicas.get(replica)
    if (known) {
      sequence++
      await store.committer.submit(id, { kind: 'report', reporter: worker, sequence, reports: [reportOf(known, over)] })
    }
  }

  const take = async (id: ServiceId, step: Step) => {
    const { committer } = store
    if (step.do === 'scale') return store.scale(id, step.to)
    if (step.do === 'place') return store.place([id])
    if (step.do === 'tick') return committer.submit(id, { kind: 'tick' })
    if (step.do === 'reset') return committer.submit(id, { kind: 'resetBackoff', actor: 'x' })
    if (step.do === 'delete') return committer.submit(id, { kind: 'delete', expectedRevision: null, actor: 'x' })
    if (step.do === 'update') return committer.submit(id, updateTo(`r${step.nth % 3}`, { startPaused: step.nth === 5 }))
    if (step.do === 'restart') return committer.submit(id, restartIntent())
    if (step.do === 'rollback') return committer.submit(id, rollbackTo())
    if (step.do === 'pause') return committer.submit(id, pauseIntent)
    if (step.do === 'resume') return committer.submit(id, resumeIntent)
    if (!('nth' in step)) return
    const { replicas } = await store.load(id)
    const replica = [...replicas.values()][step.nth % Math.max(1, replicas.size)]
    if (!replica) return
    if (step.do === 'kill') return committer.submit(id, { kind: 'kill', replica: replica.id, actor: 'x' })
    if (replica.hostId === null) return
    const end = { state: 'ENDED', ready: false, exitCode: 1 } as const
    if (step.do === 'end')
      return report(id, replica.id, { ...end, endReason: replica.state === 'STOPPING' ? 'STOPPED' : 'EXITED' })
    if (step.do === 'taken') return report(id, replica.id, { ...end, exitCode: null, endReason: 'PORT_TAKEN' })
    return report(id, replica.id, { ready: step.do === 'ready' })
  }

  test('what is loaded is what the rules computed, after every commit of any history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), fc.nat({ max: 4 }), async (steps, replicas) => {
        const id = await store.create({ replicas })
        for (const next of steps) {
          await take(id, next)
          const known = store.committer.cache.get(id)
          const loaded = await store.load(id)
          // A deleted service whose last replica has ended is not kept.
          if (loaded.columns.deletedAt !== null) break
          expect(comparable(loaded)).toEqual(known && comparable(known))
        }
        const {
          usedCpuMillis,
          usedPorts,
          replicas: placed,
          hostPorts,
        } = await database().prisma.host.findUniqueOrThrow({
          where: { id: worker.hostId },
          include: {
            replicas: { where: { state: { not: 'ENDED' } } },
            hostPorts: { where: { replicaId: { not: null } } },
          },
        })
        expect(usedCpuMillis).toBe(placed.reduce((sum, replica) => sum + replica.cpuMillis, 0))
        expect(usedPorts).toBe(hostPorts.length)
        expect(hostPorts.length).toBe(placed.length)
        const project = await database().prisma.project.findUniqueOrThrow({ where: { name: 'default' } })
        expect(project.usedReplicas).toBe(await database().prisma.replica.count({ where: { holdsQuota: true } }))
      }),
      { numRuns: 15 },
    )
  }, 180_000)
})
