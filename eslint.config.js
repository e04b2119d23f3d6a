import graphql from '@graphql-eslint/eslint-plugin'

// For the printed API alone: Biome looks after the code, and a test sees to descriptions.
const { 'flat/schema-recommended': recommended, 'flat/schema-relay': relay } = graphql.configs

/** Values that have no identity of their own, as the contract says. */
const values = [
  'AllocatedPort',
  'AssignedVariable',
  'Assignment',
  'Blocker',
  'DrainedService',
  'EnvironmentVariable',
  'ExecProbe',
  'HttpHeader',
  'HttpProbe',
  'InputIssue',
  'Limit',
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
  'ServiceSettings',
  'StopPolicy',
  'TcpProbe',
  'Viewer',
  'WatchedPort',
  'WorkerDrain',
]

export default [
  {
    files: ['schema.graphql'],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: './schema.graphql' } } },
    rules: {
      ...recommended.rules,
      ...relay.rules,
      // A list of plain objects, such as blockers, is a list and no connection.
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: true, listTypeCanWrapOnlyEdgeType: false },
      ],
      '@graphql-eslint/strict-id-in-types': [
        'error',
        { exceptions: { suffixes: ['Payload', 'Connection', 'Edge', 'Change', 'Error'], types: values } },
      ],
    },
  },
]
