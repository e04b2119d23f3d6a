/**
 * A dump is gzip'd text of one JSON object a line (NDJSON), each with one key that says what the line is:
 *
 *     {"xce-dump":{"version":1,"software":"0.1.0","migrations":["2026…_init"],"head":"1234","at":"2026-…Z"}}    first
 *     {"Service":{"id":"…",…}}                                                                                 a row of a table
 *     {"end":{"rows":{"Service":12,…}}}                                                                         last
 *
 * Rows come after those that they name. A row is what PostgreSQL's to_json makes of it. Facts are left out, and so are batches: nobody could
 * use them, because loading raises the revision (see load.ts).
 */
export interface DumpHeader {
  readonly version: number
  /** The version of this product. */
  readonly software: string
  /** The migrations that were applied to the database, in order. They made the shape of the rows. */
  readonly migrations: readonly string[]
  /** The revision of the newest fact. The dump is exactly the state of this moment. */
  readonly head: string
  readonly at: string
}

export interface DumpEnd {
  /** How many rows of each table came before. */
  readonly rows: Readonly<Record<string, number>>
}

export const formatVersion = 1
export const headerKey = 'xce-dump'
export const endKey = 'end'

/** A dump or a database that can't be used. The message is for the person who runs the tool. */
export class TransferError extends Error {
  override name = 'TransferError'
}

export function encodeLine(key: string, json: string): string {
  return `{${JSON.stringify(key)}:${json}}\n`
}

/** Returns the key and the JSON text of a line. The text is not parsed, so that bigints stay exact. */
export function decodeLine(line: string): { readonly key: string; readonly json: string } {
  const match = /^\{"([A-Za-z-]+)":/.exec(line)
  if (!match?.[1] || !line.endsWith('}')) throw new TransferError(`This is no line of a dump: ${line.slice(0, 60)}`)
  return { key: match[1], json: line.slice(match[0].length, -1) }
}
