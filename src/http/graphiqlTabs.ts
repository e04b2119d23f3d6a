/** The tabs of a first visit: the main job in four steps. GraphiQL titles a tab by the name of its operation. */
export const graphiqlTabs: readonly { readonly query: string }[] = [
  {
    query: `# A profile is the template, a service is what runs. Each replica of this one answers HTTP on a port of its own.
mutation CreateService {
  applyProfile(
    input: {
      name: "hello"
      command: [
        "node"
        "-e"
        "require('http').createServer((_, r) => r.end('replica ' + process.env.XCE_REPLICA_INDEX)).listen(process.env.PORT)"
      ]
      ports: [{ name: "http" }]
      readiness: { http: { port: "http" } }
    }
  ) {
    ... on ApplyProfilePayload { profileRevision { revision } created }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
  createService(input: { name: "hello", profile: "hello", replicas: 2 }) {
    ... on CreateServicePayload { service { id name status desiredReplicas } }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}
`,
  },
  {
    query: `# The table of addresses, pushed as it changes. It is followed while this tab is shown: open this page in a second
# window, scale the service there with ScaleService, and see the table change here.
subscription WatchEndpoint {
  endpointChanged(service: { name: "hello" }) {
    kind
    revision
    endpoint { addresses { hostPort index ready } }
    added { hostPort }
    removed { hostPort }
  }
}
`,
  },
  {
    query: `# WatchEndpoint shows what this does, in another window.
mutation ScaleService {
  scaleService(input: { service: { name: "hello" }, replicas: 3 }) {
    ... on ScaleServicePayload { service { status desiredReplicas readyReplicas } }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}
`,
  },
  {
    query: `# Whatever waits says what it waits for.
query WhyNotReady {
  service(name: "hello") {
    status
    desiredReplicas
    readyReplicas
    blockers { reason message count since until }
    rollout { state blocker { reason message } }
    replicas(filter: { ready: false }) {
      nodes {
        id
        index
        state
        host { name }
        blocker { reason message since until }
        endReason
        exitCode
        exitSignal
        lastProbe { kind ok message count since }
        lastExit { start code signal at message }
      }
    }
  }
}
`,
  },
]
