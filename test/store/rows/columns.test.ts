import { randomUUID } from 'node:crypto'
import { beforeAll, expect, expectTypeOf, test } from 'vitest'
import { Prisma } from '../../../src/generated/prisma/client.ts'
import type { HostId, RolloutId } from '../../../src/model/id.ts'
import type { Row } from '../../../src/model/row.ts'
import type { Replica, Rollout, ServiceColumns, ServiceSnapshot, Slot, Version } from '../../../src/model/service.ts'
import type { ServiceChange } from '../../../src/rules/draft/change.ts'
import type { ClusterRow } from '../../../src/store/commit/cluster/clusterWriteStatement.ts'
import { sendBatch } from '../../../src/store/commit/services/sendBatch.ts'
import { inputs, type RowOf } from '../../../src/store/commit/services/statement.ts'
import {
  type ColumnOf,
  type Columns,
  columnsOf,
  encodeRow,
  replicaColumns,
  rolloutColumns,
  serviceColumns,
  slotColumns,
  type Table,
  versionColumns,
} from '../../../src/store/rows/columns.ts'
import { assignments, insertInto, jsonObject, selectList } from '../../../src/store/rows/sql.ts'
import { TestStore } from '../../support/drivers/store.ts'
import { eachDatabase } from '../../support/fixtures/databases.ts'

const tables = Object.values(Prisma.ModelName)

/** A value for every column, none of them its default in both rounds. */
function valuesOf<R extends object>(
  columns: Columns<R>,
  labels: ReadonlyMap<string, readonly string[]>,
  round: 0 | 1,
): R {
  const values = Object.entries<string>(columns).map(([name, type], at) => {
    const number = 1_000 * (round + 1) + at
    switch (type) {
      case 'int':
        return [name, number]
      case 'boolean':
        return [name, round === 0]
      case 'text':
        return [name, `${name} ${round}`]
      case 'text[]':
        return [name, [`${name} ${round}`, '']]
      case 'timestamptz':
        return [name, 1_700_000_000_000 + number]
      case 'jsonb':
        return [name, { [name]: [number] }]
      default:
        return [name, labels.get(type)?.[round + 1]]
    }
  })
  return Object.fromEntries(values) as R
}

eachDatabase((database) => {
  test('the columns and their SQL types are those of the database', async () => {
    const { prisma } = database()
    const ours = tables.flatMap((table) =>
      Object.entries<string>(columnsOf(table)).map(([name, type]) => ({ table, name, type })),
    )
    const [row] = await prisma.$queryRawUnsafe<{ ours: string; theirs: string }[]>(
      `SELECT (SELECT json_agg(json_build_array(x.table, x.name, to_regtype(x.type)::text) ORDER BY x.table, x.name)
           FROM json_to_recordset($1::json) AS x("table" text, "name" text, "type" text))::text AS ours,
         (SELECT json_agg(json_build_array(c.relname, a.attname, a.atttypid::regtype::text) ORDER BY c.relname::text, a.attname::text)
           FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname <> '_prisma_migrations')::text AS theirs`,
      JSON.stringify(ours),
    )
    expect(JSON.parse(row?.ours ?? '')).toEqual(JSON.parse(row?.theirs ?? '{}'))
    expect(ours.length).toBeGreaterThan(150)
  })

  test('every SQL type of the statement is one of the database', async () => {
    const types = [...new Set(Object.values<Columns>(inputs).flatMap((columns) => Object.values(columns)))]
    const rows = await database().prisma.$queryRawUnsafe<{ type: string }[]>(
      `SELECT x AS type FROM json_array_elements_text($1::json) x WHERE to_regtype(x) IS NULL`,
      JSON.stringify(types),
    )
    expect(rows).toEqual([])
  })

  let store: TestStore
  const labels = new Map<string, readonly string[]>()
  beforeAll(async () => {
    store = await TestStore.on(database())
    const rows = await database().prisma.$queryRaw<{ type: string; labels: string }[]>`
      SELECT quote_ident(t.typname) AS type, json_agg(e.enumlabel ORDER BY e.enumsortorder)::text AS labels
      FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid GROUP BY 1`
    for (const row of rows) labels.set(row.type, JSON.parse(row.labels) as string[])
  })

  const commit = async (snapshot: ServiceSnapshot, over: Partial<ServiceChange>) => {
    const change: ServiceChange = {
      id: snapshot.id,
      guard: snapshot.guard,
      created: null,
      columns: snapshot.columns,
      insertedVersions: [],
      insertedReplicas: [],
      updatedReplicas: [],
      rollouts: [],
      slots: { upserted: [], deleted: [] },
      timers: { upserted: new Map(), deleted: [] },
      quota: { projectId: snapshot.projectId, delta: 0 },
      hosts: [],
      fences: [],
      limit: null,
      workerPreconditions: [],
      facts: [
        {
          kind: 'eventOnly',
          event: { kind: 'REPLICA', message: 'm', actor: 'a', replicaId: null, hostId: null, count: 1 },
        },
      ],
      specFact: null,
      next: snapshot,
      ...over,
    }
    const { refused } = await sendBatch(database().prisma, store.clock, randomUUID(), [{ change, remember: [] }], null)
    expect([...refused]).toEqual([])
    return store.load(snapshot.id)
  }

  test('every column of every row is written with its insert and with its update, and read back', async () => {
    const made = await store.load(await store.create({ replicas: 0 }))
    const { hostId, workerId } = await store.register()
    const { profileRevisionId, queueId } = made.columns
    // What other rows are found by must be there; all else is anything.
    const version = (round: 0 | 1): Version => ({
      ...valuesOf(versionColumns, labels, round),
      number: 2 + round,
      contentNumber: 2 + round,
      profileRevisionId,
    })
    const rollout = (round: 0 | 1): Rollout => ({
      ...valuesOf(rolloutColumns, labels, round),
      number: 2,
      fromVersion: 1,
      toVersion: 2,
    })
    const replica = (round: 0 | 1): Replica => ({
      ...valuesOf(replicaColumns, labels, round),
      versionNumber: 2 + round,
      hostId: round === 0 ? hostId : null,
    })
    const slot = (round: 0 | 1): Slot => ({ ...valuesOf(slotColumns, labels, round), index: 5, contentNumber: 2 })
    const columns = (round: 0 | 1): ServiceColumns => ({
      ...valuesOf(serviceColumns, labels, round),
      profileRevisionId,
      queueId,
      rolloutNumber: 2,
      versionNumber: 2,
      deletedAt: null,
    })
    const timers = new Map([['MIN_READY', 1_700_000_000_001] as const])
    const first = await commit(made, {
      columns: columns(0),
      insertedVersions: [version(0), version(1)],
      insertedReplicas: [replica(0)],
      rollouts: [rollout(0)],
      slots: { upserted: [slot(0)], deleted: [] },
      timers: { upserted: timers, deleted: [...made.timers.keys()] },
    })
    expect(first.columns).toEqual(columns(0))
    expect(first.versions.get(2)).toEqual(version(0))
    expect([...first.replicas.values()]).toEqual([replica(0)])
    expect(first.rollout).toEqual(rollout(0))
    expect(first.slots).toEqual([slot(0)])
    expect(first.timers).toEqual(timers)

    const { id, createdAt } = replica(0)
    const { id: rolloutId, startedAt, startedBy } = rollout(0)
    const changed = { ...replica(1), id, createdAt, workerId }
    const later = new Map([['MIN_READY', 1_700_000_000_002] as const])
    const second = await commit(first, {
      columns: columns(1),
      updatedReplicas: [changed],
      // Of a rollout that is there these don't change.
      rollouts: [{ ...rollout(1), id: 'another' as RolloutId, startedAt: 1, startedBy: 'another' }],
      slots: { upserted: [slot(1)], deleted: [] },
      timers: { upserted: later, deleted: [] },
    })
    expect(second.columns).toEqual(columns(1))
    expect([...second.replicas.values()]).toEqual([changed])
    expect(second.rollout).toEqual({ ...rollout(1), id: rolloutId, startedAt, startedBy })
    expect(second.slots).toEqual([slot(1)])
    expect(second.timers).toEqual(later)
    const third = await commit(second, { slots: { upserted: [], deleted: [slot(1)] } })
    expect(third.slots).toEqual([])
  })

  test('a service is created with all its columns', async () => {
    const template = await store.newService()
    const { id, projectId, queueId, name, owner, profileRevisionId } = template
    const known = await store.load(await store.create({ replicas: 0 }))
    const columns: ServiceColumns = {
      ...valuesOf(serviceColumns, labels, 0),
      profileRevisionId,
      queueId,
      rolloutNumber: 1,
      versionNumber: 1,
      deletedAt: null,
    }
    const born = { ...known, id, projectId, name, owner, createdAt: 1_700_000_000_123, guard: -1 }
    const version = [...known.versions.values()].map((row): Version => ({ ...row, id: randomUUID() as Version['id'] }))
    const rollout: Rollout = { ...known.rollout, id: randomUUID() as RolloutId }
    const loaded = await commit(born, { created: born, columns, insertedVersions: version, rollouts: [rollout] })
    const { projectName, createdAt } = born
    expect(loaded).toMatchObject({ id, projectId, projectName, name, owner, createdAt, guard: 0, columns })
    expect(await database().prisma.service.findUniqueOrThrow({ where: { id } })).toMatchObject({ heldName: name })
  })
})

test('what leaves out a column does not compile', () => {
  type AnyOf<In extends Table> = {
    [Column in ColumnOf<In>]: 0 extends 1 & Prisma.TypeMap['model'][In]['payload']['scalars'][Column] ? Column : never
  }[ColumnOf<In>]
  // The generated client is not type-checked: a JSON type that jsonColumns.ts does not have would be `any` in it.
  expectTypeOf<{ [In in Table]: AnyOf<In> }[Table]>().toEqualTypeOf<never>()
  expectTypeOf<Row<{ undeclared: unknown }, Record<never, never>>['undeclared']>().toEqualTypeOf<never>()
  expectTypeOf<keyof Replica>().toEqualTypeOf<Exclude<ColumnOf<'Replica'>, 'serviceId'>>()
  expectTypeOf<Replica['avoidHostId']>().toEqualTypeOf<HostId | null>()
  expectTypeOf<Rollout['deadlineAt']>().toEqualTypeOf<number | null>()

  const row = valuesOf(replicaColumns, new Map(), 0)
  const { readySince: _, ...without } = row
  // @ts-expect-error readySince is missing in the row.
  expect(() => encodeRow(replicaColumns, without)).toThrow(RangeError)
  expect(encodeRow(replicaColumns, row)).toHaveProperty('readySince')

  const { readySince: __, ...fewer } = replicaColumns
  // @ts-expect-error readySince is missing in the columns.
  const columns: Columns<Replica> = fewer
  // @ts-expect-error The datamodel has no such column.
  const more: Columns<Replica> = { ...replicaColumns, labels: 'jsonb' }
  expect([columns, more]).toHaveLength(2)

  const timer = { serviceId: 'a', kind: 'b', dueAt: 'c' }
  // @ts-expect-error dueAt is missing.
  insertInto('Timer', { serviceId: 'a', kind: 'b' })
  // @ts-expect-error Timer has no such column.
  insertInto('Timer', { ...timer, labels: 'd' })
  expect(insertInto('Timer', timer)).toBe('INSERT INTO "Timer" AS t ("serviceId", "kind", "dueAt") SELECT a, b, c')
  // @ts-expect-error dueAt is missing.
  assignments<'Timer'>({ serviceId: null, kind: null })
  expect(assignments<'Timer'>({ ...timer, kind: null })).toBe('"serviceId" = a, "dueAt" = c')

  type Pair = { readonly a: number; readonly b: number }
  // @ts-expect-error b is missing.
  selectList<Pair>({ a: '1' })
  // @ts-expect-error b is missing.
  jsonObject<Pair>({ a: '1' })
  expect(selectList<Pair>({ a: '1', b: '2' })).toBe('1 AS "a", 2 AS "b"')
  expect(jsonObject<Pair>({ a: '1', b: '2' })).toBe(`json_build_object('a', 1, 'b', 2)`)

  // @ts-expect-error epoch is missing.
  const fence: RowOf<'fences'> = { ord: 1, worker: 'w' }
  // @ts-expect-error priority is missing.
  const queue: ClusterRow<'queue'> = { id: 'q', name: 'q', isNew: true }
  expect([fence, queue]).toHaveLength(2)
})
