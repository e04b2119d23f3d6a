/** An id of the API names its type, so that `node(id)` finds it and a person can read it: `Replica_01890a5d-ac96-774b-bcce-b302099a8057`. */
export interface GlobalId {
  readonly typename: string
  readonly id: string
}

const shape = /^([A-Z][A-Za-z]*)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{1,18})$/

export function encodeGlobalId(typename: string, id: string | number | bigint): string {
  return `${typename}_${id}`
}

/** Null when `text` is no id of this API. Only what passes here reaches the database. */
export function decodeGlobalId(text: string): GlobalId | null {
  const parts = shape.exec(text)
  return parts?.[1] === undefined || parts[2] === undefined ? null : { typename: parts[1], id: parts[2] }
}

/** The bare id of a global id of one type; null when it is another type's or none. */
export function idOf(typename: string, text: string): string | null {
  const decoded = decodeGlobalId(text)
  return decoded?.typename === typename ? decoded.id : null
}
