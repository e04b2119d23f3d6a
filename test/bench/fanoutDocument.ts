/** What every subscriber of the benchmark asks. */
export const fanoutDocument = `subscription Fan($service: String!, $after: Revision) {
  endpointChanged(service: { name: $service }, includeNotReady: true, after: $after) {
    kind revision endpoint { addresses(includeNotReady: true) { id hostPort ready } } added { id hostPort ready } removed { id }
  }
}`
