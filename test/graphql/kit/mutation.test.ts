import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { createService } from '../../support/drivers/apiService.ts'
import { TestServer } from '../../support/drivers/testServer.ts'
import { freshPostgreSQL, silent } from '../../support/fixtures/databases.ts'
import { until } from '../../support/fixtures/until.ts'

test('a call that is refused for what the same call did through another server meanwhile has that one’s answer', async () => {
  const database = await freshPostgreSQL()
  const { url = '' } = database.options
  const server = await TestServer.start(silent, mkdtempSync(path.join(tmpdir(), 'xce-test-')), { databaseUrl: url })
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  try {
    const remove = (idempotencyKey: string) =>
      server.client.ask<{ deleteService: unknown }>(
        `mutation { deleteService(input: { service: { name: "once" }, idempotencyKey: "${idempotencyKey}" }) {
          ... on DeleteServicePayload { service { id } } ... on Error { code } } }`,
      )
    await createService(server.client, 'once', 0)
    const first = await remove('k0')
    await createService(server.client, 'once', 0)
    // The call has looked for its key, in vain, and waits to look for its service. Now the other server does what it asks for, under its key.
    await other.query('BEGIN; LOCK TABLE "Service" IN ACCESS EXCLUSIVE MODE')
    const second = remove('k1')
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    await until(async () => (await other.query(waiting)).rowCount, 'the call waits for the service')
    await other.query(
      `INSERT INTO "IdempotencyKey" SELECT "subject", "operation", 'k1', "inputHash", "result", "at" FROM "IdempotencyKey" WHERE "key" = 'k0'`,
    )
    await other.query('UPDATE "Service" SET "heldName" = NULL; COMMIT')
    expect(await second).toEqual(first)
    expect(first.deleteService).toHaveProperty('service.id')
    // A refusal without one is a refusal.
    expect(await remove('k2')).toEqual({ deleteService: { code: 'NOT_FOUND' } })
  } finally {
    await other.end()
    await server.stop()
    await database.drop()
  }
})
