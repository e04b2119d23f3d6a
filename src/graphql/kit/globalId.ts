/** An id of the API names its type, so that `node(id)` finds it and a person can read it: `Replica_01890a5d-ac96-774b-bcce-b302099a8057`. */
export interface GlobalId {
  readonly typename: string
  readonly id: string
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const revision = /^[0-9]{1,18}$/

/** Every type that implements Node, with the form of its ids. */
const nodes: ReadonlyMap<string, RegExp> = new Map([
  ['ApplicationProfile', uuid],
  ['Endpoint', uuid],
  ['Event', revision],
  ['Host', uuid],
  ['ProfileRevision', uuid],
  ['Project', uuid],
  ['Queue', uuid],
  ['Replica', uuid],
  ['Rollout', uuid],
  ['Service', uuid],
  ['ServiceVersion', uuid],
  ['Worker', uuid],
])

export function encodeGlobalId(typename: string, id: string | number | bigint): string {
  return `${typename}_${id}`
}

/** Returns null when `text` is not an id of this API. Only ids that pass here reach the database. */
export function decodeGlobalId(text: string): GlobalId | null {
  const at = text.indexOf('_')
  const [typename, id] = [text.slice(0, at), text.slice(at + 1)]
  return nodes.get(typename)?.test(id) ? { typename, id } : null
}

/** Returns the bare id of a global id of one type; null for an id of another type and for other text. */
export function idOf(typename: string, text: string): string | null {
  const decoded = decodeGlobalId(text)
  return decoded?.typename === typename ? decoded.id : null
}
