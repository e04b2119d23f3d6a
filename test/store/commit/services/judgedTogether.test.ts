import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Content } from '../../../../src/model/content.ts'
import type { ProfileRevisionId, ProjectId, RolloutId, ServiceId } from '../../../../src/model/id.ts'
import type { UpdateIntent } from '../../../../src/model/intent.ts'
import { noOverrides } from '../../../../src/rules/version/content.ts'
import { TestStore } from '../../../support/drivers/store.ts'
import { eachDatabase } from '../../../support/fixtures/databases.ts'
import { content, settings } from '../../../support/fixtures/services.ts'

// What is right alone can be wrong together: a service's variables and its profile's ports, a number of replicas and its project's limit. Two
// changes that pass beside each other must be judged as if one had come after the other, also by two servers that remember other states.

const ports = (...names: string[]) => names.map((name) => ({ name, port: null, protocol: 'TCP' as const }))
const ownPort: Content['env'] = [{ name: 'PORT', value: '80', secret: false }]
const done = { kind: 'done', changed: true }
const setBySystem = '"PORT" is set by the system to the number of the only port, "a": leave it out.'

eachDatabase((database) => {
  let servers: readonly [TestStore, TestStore]
  beforeAll(async () => {
    servers = [await TestStore.on(database()), await TestStore.on(database())]
  })

  const readiness = null
  const updateTo = (over: Partial<UpdateIntent>): UpdateIntent => ({
    kind: 'update',
    profile: null,
    overrides: {},
    replicas: null,
    settings: {},
    queue: null,
    metadata: {},
    startPaused: false,
    rolloutId: randomUUID() as RolloutId,
    expectedRevision: null,
    actor: 'test',
    ...over,
  })

  /** A profile revision with these ports. */
  async function revisionWith(names: readonly string[]): Promise<NonNullable<UpdateIntent['profile']>> {
    const revised = content({ ports: ports(...names), readiness })
    const profile = await servers[0].committer.write({
      kind: 'applyProfile',
      allowDropping: false,
      name: `p${randomUUID().slice(0, 8)}`,
      content: revised,
      settings: settings(),
      actor: 'test',
    })
    if (profile.kind !== 'profile') throw new Error('no profile')
    return { id: profile.profileRevisionId as ProfileRevisionId, content: revised, settings: settings() }
  }

  describe('a variable PORT and a profile with one port', () => {
    test.each([
      ['from one server', 0, 0],
      ['from two servers', 0, 1],
      ['from two servers, the other one first', 1, 0],
    ] as const)('%s: one passes, the other is refused as it would be alone', async (_name, first, second) => {
      const onlyA = await revisionWith(['a'])
      for (let round = 0; round < 5; round++) {
        const id = await servers[0].create({ content: content({ ports: ports('a', 'b'), readiness }) })
        // Both servers remember the service as it is now.
        await servers[1].scale(id, 2)
        await servers[0].scale(id, 3)
        const outcomes = await Promise.all([
          servers[first].committer.submit(id, updateTo({ overrides: { env: ownPort } })),
          servers[second].committer.submit(id, updateTo({ profile: onlyA })),
        ])
        const { versions, columns } = await servers[0].load(id)
        const target = versions.get(columns.versionNumber)?.content
        const has = [target?.ports.length, target?.env.some(({ name }) => name === 'PORT')]
        const refused = outcomes.findIndex(({ kind }) => kind === 'refused')
        expect(outcomes[1 - refused]).toEqual(done)
        expect(has).toEqual(refused === 0 ? [1, false] : [2, true])
        expect(outcomes[refused]).toMatchObject({
          refusal: {
            code: 'INVALID_INPUT',
            issues: [
              {
                path: refused === 0 ? ['input', 'env', '0', 'name'] : ['input', 'profileRevision'],
                message: setBySystem,
              },
            ],
          },
        })
      }
    })

    test('a service is not created with both', async () => {
      const service = await servers[0].newService({
        content: content({ ports: ports('a'), readiness, env: ownPort }),
        overrides: { ...noOverrides, env: ownPort },
      })
      expect(await servers[0].committer.create(service, 'test')).toMatchObject({
        refusal: { code: 'INVALID_INPUT', issues: [{ path: ['input', 'env', '0', 'name'], message: setBySystem }] },
      })
    })
  })

  describe('the limit of the project', () => {
    async function project(maxReplicas: number | null): Promise<{ name: string; id: ProjectId }> {
      const name = `q${randomUUID().slice(0, 8)}`
      await limit(name, maxReplicas)
      const { id } = await database().prisma.project.findUniqueOrThrow({ where: { name } })
      return { name, id: id as ProjectId }
    }

    const limit = (name: string, maxReplicas: number | null) =>
      servers[1].committer.write({ kind: 'applyProject', name, maxReplicas, actor: 'test' })

    async function serviceIn({ name, id }: { name: string; id: ProjectId }, replicas: number): Promise<ServiceId> {
      return servers[0].create({ projectName: name, projectId: id, replicas })
    }

    test('that was lowered by another server is the one that counts, and so is the one that was raised', async () => {
      const own = await project(null)
      const id = await serviceIn(own, 1)
      expect(await servers[0].scale(id, 2)).toEqual(done)
      await limit(own.name, 3)
      expect(await servers[0].scale(id, 4)).toMatchObject({
        refusal: { code: 'QUOTA_EXCEEDED', limit: 3, requested: 4 },
      })
      expect(await servers[0].committer.submit(id, updateTo({ replicas: 4 }))).toMatchObject({
        refusal: { code: 'QUOTA_EXCEEDED', limit: 3 },
      })
      await limit(own.name, 5)
      expect(await servers[0].scale(id, 4)).toEqual(done)
      // Shrinking is never refused, whatever the limit.
      await limit(own.name, 1)
      expect(await servers[0].scale(id, 3)).toEqual(done)
    })

    test('judges a new service as it is at the commit', async () => {
      const own = await project(2)
      const service = await servers[0].newService({ projectName: own.name, projectId: own.id, replicas: 3 })
      expect(await servers[0].committer.create(service, 'test')).toMatchObject({
        refusal: { code: 'QUOTA_EXCEEDED', limit: 2 },
      })
      await limit(own.name, 3)
      expect(await servers[0].committer.create(service, 'test')).toEqual(done)
    })

    test('that changes beside growths: each is judged by a limit that there was', async () => {
      const own = await project(2)
      const id = await serviceIn(own, 1)
      for (let round = 0; round < 10; round++) {
        const [scaled] = await Promise.all([servers[round % 2]?.scale(id, 4), limit(own.name, round % 2 === 0 ? 4 : 2)])
        if (scaled?.kind === 'refused') expect(scaled.refusal).toMatchObject({ code: 'QUOTA_EXCEEDED', limit: 2 })
        else expect(scaled).toMatchObject({ kind: 'done' })
        await servers[0].scale(id, 1)
      }
    })
  })
})
