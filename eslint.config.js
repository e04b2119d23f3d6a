import graphql from '@graphql-eslint/eslint-plugin'

// For the printed schemas alone: Biome looks after the code, and a test sees to descriptions.
const workerSchema = 'src/graphql/workerProtocol/worker.graphql'
const { 'flat/schema-recommended': recommended, 'flat/schema-relay': relay } = graphql.configs

/** Each schema is a project of its own, so that one run of the linter takes both. */
const schemas = {
  projects: { users: { schema: './schema.graphql' }, workers: { schema: workerSchema } },
}

/** Values that have no identity of their own, as the contract says. */
const values = [
  'AllocatedPort',
  'Annotation',
  'Label',
  'FieldChange',
  'Blocker',
  'EnvironmentVariable',
  'ExecProbe',
  'HttpHeader',
  'HttpProbe',
  'InputIssue',
  'RolloutSettings',
  'SpreadSettings',
  'BackoffSettings',
  'PageInfo',
  'PortDeclaration',
  'PortRange',
  'Probe',
  'LogLine',
  'LogStart',
  'ReplicaExit',
  'ReplicaLog',
  'ReplicaProbe',
  'RestartPolicy',
  'RolloutPlan',
  'RolloutPlanStep',
  'ServiceOverrides',
  'ServiceDefaults',
  'ServiceSettings',
  'StopPolicy',
  'TcpProbe',
  'Viewer',
]

const suffixes = ['Payload', 'Connection', 'Edge', 'Change', 'Error']

/** The objects of the worker's protocol are values, but for a log request. */
const workerValues = ['AssignedVariable', 'Assignment', 'DrainedService', 'WatchedPort', 'WorkerDrain']

export default [
  {
    files: ['schema.graphql'],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: schemas } },
    rules: {
      ...recommended.rules,
      ...relay.rules,
      // A list of plain objects, such as blockers, is a list and no connection.
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: true, listTypeCanWrapOnlyEdgeType: false },
      ],
      '@graphql-eslint/strict-id-in-types': ['error', { exceptions: { suffixes, types: values } }],
    },
  },
  {
    files: [workerSchema],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: schemas } },
    rules: {
      ...recommended.rules,
      '@graphql-eslint/strict-id-in-types': [
        'error',
        { exceptions: { suffixes, types: [...values, ...workerValues] } },
      ],
    },
  },
]
