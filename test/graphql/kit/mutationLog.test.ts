import { graphql } from 'graphql'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createContext } from '../../../src/graphql/kit/context.ts'
import { schema } from '../../../src/graphql/schema.ts'
import { admin, documentOf, openApi, withProfile, withService } from '../api.ts'

const api = openApi()

test('one line per mutation: what, whose, of which service, what became of it and how long it took', async () => {
  await withProfile(api())
  await withService(api(), 'web')
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const contextValue = createContext({ ...api().app, log }, admin)
  const run = async (mutation: string, input: Record<string, unknown>) => {
    await graphql({ schema, source: documentOf(mutation), variableValues: { input }, contextValue })
  }
  await run('scaleService', { service: { name: 'web' }, replicas: 2 })
  await run('scaleService', { service: { name: 'web' }, replicas: -1 })
  await run('deleteService', { service: { project: 'team', name: 'none' } })
  await run('applyQueue', { name: 'urgent', priority: 1 })
  expect(lines.map(({ level: _, msg, ...line }) => line)).toEqual([
    {
      operation: 'scaleService',
      subject: 'alice',
      service: 'default/web',
      outcome: 'DONE',
      milliseconds: expect.any(Number),
    },
    {
      operation: 'scaleService',
      subject: 'alice',
      service: 'default/web',
      outcome: 'INVALID_INPUT',
      milliseconds: expect.any(Number),
    },
    {
      operation: 'deleteService',
      subject: 'alice',
      service: 'team/none',
      outcome: 'NOT_FOUND',
      milliseconds: expect.any(Number),
    },
    { operation: 'applyQueue', subject: 'alice', queue: 'urgent', outcome: 'DONE', milliseconds: expect.any(Number) },
  ])
})
