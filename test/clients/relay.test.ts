import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const compiler = createRequire(import.meta.url).resolve('relay-compiler/cli.js')
const schema = fileURLToPath(new URL('../../schema.graphql', import.meta.url))

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'xce-relay-'))
  mkdirSync(path.join(directory, 'src'))
  cpSync(schema, path.join(directory, 'schema.graphql'))
  writeFileSync(
    path.join(directory, 'relay.config.json'),
    JSON.stringify({ src: 'src', schema: 'schema.graphql', language: 'typescript' }),
  )
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Compiles a component with these documents. Rejects with what the compiler says. */
async function compile(component: string, documents: readonly string[]): Promise<readonly string[]> {
  writeFileSync(
    path.join(directory, 'src', `${component}.ts`),
    documents.map((document) => `graphql\`${document}\`\n`).join(''),
  )
  await promisify(execFile)(process.execPath, [compiler], { cwd: directory })
  return readdirSync(path.join(directory, 'src', '__generated__')).filter((file) => file.startsWith(component))
}

const artifact = (name: string) => readFileSync(path.join(directory, 'src', '__generated__', name), 'utf8')

test('a connection', async () => {
  const files = await compile('Services', [
    `query ServicesQuery($first: Int!, $after: String) { ...Services_list }`,
    `fragment Services_list on Query {
      services(first: $first, after: $after, filter: { statuses: [HEALTHY, DEGRADED] }) @connection(key: "Services_services") {
        edges { node { id name status } }
      }
    }`,
  ])
  expect(files.toSorted()).toEqual(['ServicesQuery.graphql.ts', 'Services_list.graphql.ts'])
  // The compiler adds what paging needs.
  expect(artifact('ServicesQuery.graphql.ts')).toContain('endCursor')
})

test('a refetchable fragment of a node, with a connection in it', async () => {
  const files = await compile('Replicas', [
    `query ReplicasQuery($name: String!) { service(name: $name) { ...Replicas_service } }`,
    `fragment Replicas_service on Service
      @refetchable(queryName: "ReplicasRefetchQuery")
      @argumentDefinitions(first: { type: "Int", defaultValue: 20 }, after: { type: "String" }) {
        desiredReplicas
        replicas(first: $first, after: $after) @connection(key: "Replicas_replicas") { edges { node { index state ready } } }
        endpoint { addresses { id hostPort } }
      }`,
  ])
  expect(files).toContain('ReplicasRefetchQuery.graphql.ts')
  expect(artifact('ReplicasRefetchQuery.graphql.ts')).toMatch(/node\(id: \$id\)/)
})

test('a subscription', async () => {
  const files = await compile('Endpoint', [
    `subscription EndpointSubscription($service: String!) {
      endpointChanged(service: { name: $service }) { kind revision endpoint { ...Endpoint_table } removed { id @deleteRecord } }
    }`,
    `fragment Endpoint_table on Endpoint { addresses { hostPort ready } }`,
  ])
  expect(files.toSorted()).toEqual(['EndpointSubscription.graphql.ts', 'Endpoint_table.graphql.ts'])
})

test('a mutation whose failures are data', async () => {
  const files = await compile('Scale', [
    `mutation ScaleMutation($input: ScaleServiceInput!) {
      scaleService(input: $input) {
        __typename
        ... on ScaleServicePayload { service { desiredReplicas } }
        ... on Error { code message }
      }
    }`,
  ])
  expect(files).toEqual(['ScaleMutation.graphql.ts'])
})

test('what the schema does not have is refused', async () => {
  await expect(compile('Wrong', ['query WrongQuery { services { quantity } }'])).rejects.toThrow(/quantity/)
})
