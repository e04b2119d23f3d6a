// What a run of placement reads at 5,000 hosts with 150,000 replicas: everything, and what changed since the last run. Part of npm run bench:placement.
import { tmpdir } from 'node:os'
import { pino } from 'pino'
import type { CommittedFact, ServiceFactData } from '../../src/model/fact.ts'
import type { HostId, ProjectId, ServiceId } from '../../src/model/id.ts'
import { place } from '../../src/rules/placement/placement.ts'
import { type Database, openDatabase } from '../../src/store/database/database.ts'
import { readPlacement } from '../../src/store/read/readPlacement.ts'
import { PlacementView } from '../../src/systems/placement/placementView.ts'
import { TestStore } from '../support/drivers/store.ts'
import { startPostgreSQL } from '../support/fixtures/postgresqlServer.ts'

const hostCount = 5_000
const serviceCount = 3_000
const each = 50
const rounds = 15

const server = await startPostgreSQL()
try {
  const database = await openDatabase({ dataDirectory: tmpdir(), url: server.url, log: pino({ level: 'warn' }) })
  try {
    await compare(database)
  } finally {
    await database.close()
  }
} finally {
  await server.stop()
}

async function compare(database: Database): Promise<void> {
  const services = await fill(database)
  const view = new PlacementView(database)
  await view.read()
  const [project] = await database.prisma.project.findMany()
  const hosts = (await database.prisma.host.findMany({ select: { id: true }, orderBy: { id: 'asc' } })).map(
    ({ id }) => id as HostId,
  )
  const change = (at: number, count: number): CommittedFact => {
    const changed = Array.from({ length: count }, (_, number) => hosts[(at * 97 + number * 131) % hostCount] as HostId)
    const data = { projectId: project?.id as ProjectId, hosts: changed } as unknown as ServiceFactData
    return {
      revision: 1n,
      at: 0,
      serviceId: services[at % serviceCount] as ServiceId,
      hostId: null,
      kind: 'change',
      data,
    }
  }
  console.log(`${hostCount} hosts, ${serviceCount * each} replicas placed, 10 wait; median of ${rounds}, in ms`)
  await measure('read everything', () => readPlacement(database))
  for (const count of [0, 10, 100, 1_000]) {
    await measure(`read what changed: 10 services, ${count} hosts`, async (round) => {
      view.note(Array.from({ length: 10 }, (_, number) => change(round * 10 + number, count / 10)))
      await view.read()
    })
  }
  await measure('read what changed: nothing', () => view.read())
  const state = await view.read()
  await measure('and the decision', async () => place({ ...state, now: 0 }))
}

async function measure(name: string, run: (round: number) => Promise<unknown>): Promise<void> {
  const millis: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now()
    await run(round)
    millis.push(performance.now() - startedAt)
  }
  const median = millis.sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN
  console.log(`${median.toFixed(1).padStart(9)}  ${name}`)
}

/** Every service has its replicas, spread over all hosts, with a port each; the last 10 replicas wait. */
async function fill(database: Database): Promise<ServiceId[]> {
  const { prisma } = database
  const store = await TestStore.on(database)
  const first = await store.newService({ replicas: each })
  const services = Array.from(
    { length: serviceCount },
    (_, number) => `service-${String(number).padStart(6, '0')}` as ServiceId,
  )
  await Promise.all(services.map((id) => store.committer.create({ ...first, id, name: id }, 'bench')))
  await store.committer.stop()
  await prisma.$executeRaw`
    INSERT INTO "Host" ("id", "name", "addresses", "schedulingSince", "reachabilitySince", "cpuMillis", "memoryMiB", "portFrom", "portTo", "reservedPorts", "createdAt")
    SELECT 'host-' || lpad(n::text, 6, '0'), 'host-' || n, ARRAY['10.0.0.1'], now(), now(), 64000, 262144, 20000, 32000, ARRAY[]::int[], now()
    FROM generate_series(0, ${hostCount - 1}) n`
  await prisma.$executeRaw`
    UPDATE "Replica" t SET "state" = 'RUNNING', "blocker" = NULL, "holdsQuota" = true, "hostId" = 'host-' || lpad((r.n % ${hostCount})::text, 6, '0'),
      "ports" = json_build_array(json_build_object('name', 'http', 'port', 20000 + r.n / ${hostCount}, 'protocol', 'TCP'))
    FROM (SELECT "id", (row_number() OVER (ORDER BY "serviceId", "index") - 1)::int AS n FROM "Replica") r
    WHERE t."id" = r."id" AND r.n < ${serviceCount * each - 10}`
  await prisma.$executeRaw`
    INSERT INTO "HostPort" ("hostId", "port", "protocol", "replicaId")
    SELECT "hostId", ("ports" -> 0 ->> 'port')::int, 'TCP', "id" FROM "Replica" WHERE "hostId" IS NOT NULL`
  await prisma.$executeRawUnsafe('ANALYZE')
  return services
}
