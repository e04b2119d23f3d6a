import type { ColumnOf, Columns, Table } from './columns.ts'

// SQL text from objects that name every column, so that the compiler finds the one that is left out.

/** A statement has this instead of an expression for a column that keeps its default or its value. */
export const byDefault = null
export const unchanged = null

/** An SQL expression for every column of a table. */
export type Values<In extends Table> = { readonly [Column in ColumnOf<In>]: string | null }

/**
 * `"a", "b"` of the table get the first of what is selected, and FROM follows. In ON CONFLICT the existing row is `t`.
 */
export function insertInto<In extends Table>(table: In, values: Values<In>): string {
  const set = entriesOf(values)
  return `INSERT INTO "${table}" AS t (${set.map(([name]) => `"${name}"`).join(', ')}) SELECT ${set.map(([, value]) => value).join(', ')}`
}

/** The text that follows SET. */
export function assignments<In extends Table>(values: Values<In>): string {
  return entriesOf(values)
    .map(([name, value]) => `"${name}" = ${value}`)
    .join(', ')
}

/** Returns each of these columns as `from` has it. */
export function columnsFrom<Row>(columns: Columns<Row>, from: string): { readonly [Column in keyof Row]: string } {
  const values = Object.keys(columns).map((name) => [name, `${from}."${name}"`])
  return Object.fromEntries(values) as { readonly [Column in keyof Row]: string }
}

/** Returns the columns of json_to_record and json_to_recordset with their types. */
export function typedColumns(columns: Columns): string {
  return Object.entries(columns)
    .map(([name, type]) => `"${name}" ${type}`)
    .join(', ')
}

/**
 * Returns a row of such columns as JSON. Every column must be there, because the statement reads one that JSON leaves
 * out (`undefined`) as null.
 */
export type InputRow<Input> = { readonly [Column in keyof Input]: unknown }

/** Returns the columns of a SELECT whose rows are `Row`. */
export function selectList<Row>(values: { readonly [Column in keyof Row]-?: string }): string {
  return Object.entries<string>(values)
    .map(([name, value]) => `${value} AS "${name}"`)
    .join(', ')
}

/** Returns a JSON object that is a `Value`. */
export function jsonObject<Value>(values: { readonly [Key in keyof Value]-?: string }): string {
  return `json_build_object(${Object.entries<string>(values)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(', ')})`
}

function entriesOf(values: Readonly<Record<string, string | null>>): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
}
