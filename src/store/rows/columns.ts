import { getDatamodel } from '../../generated/pothos.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import type { Instant } from '../../model/id.ts'
import type { Replica, Rollout, ServiceColumns, ServiceIdentity, Slot, Timer, Version } from '../../model/service.ts'

/** The SQL type of each column, in the form that json_to_recordset takes. */
export type Columns<Row = Readonly<Record<string, unknown>>> = { readonly [Column in keyof Row]-?: string }

export type Table = Prisma.ModelName

/** A column of the datamodel. */
export type ColumnOf<In extends Table> = keyof Prisma.TypeMap['model'][In]['payload']['scalars'] & string

/** The rows that the rules decide whole, by their tables. */
interface Rows {
  readonly Replica: Replica
  readonly Rollout: Rollout
  readonly Service: ServiceColumns
  readonly ServiceVersion: Version
  readonly Slot: Slot
  readonly Timer: Timer
}

const ofTheChange = 'the service that is changed'
const ofTheCreation = 'given once, with the creation'

const identity: Readonly<Record<keyof ServiceIdentity, string>> = {
  id: ofTheCreation,
  projectId: ofTheCreation,
  name: ofTheCreation,
  owner: ofTheCreation,
  createdAt: ofTheCreation,
}

/**
 * The columns of these tables that are in no row of the rules, because the commit statement sets them itself, and why. A column of the datamodel
 * that is neither in the row nor here does not compile, nor does one that is here and in the row.
 */
const setByStatement: { readonly [In in keyof Rows]: Readonly<Record<Exclude<ColumnOf<In>, keyof Rows[In]>, string>> } =
  {
    Replica: { serviceId: ofTheChange },
    Rollout: { serviceId: ofTheChange },
    Service: {
      ...identity,
      guard: 'raised with each commit',
      revision: 'known once the facts of the services before are counted',
      specRevision: 'known once the facts of the services before are counted',
      heldName: 'the name, until the last replica of a deleted service has ended',
    },
    ServiceVersion: { serviceId: ofTheChange },
    Slot: { serviceId: ofTheChange },
    Timer: { serviceId: ofTheChange },
  }

const sqlTypes: Readonly<Record<string, string>> = {
  BigInt: 'bigint',
  Boolean: 'boolean',
  DateTime: 'timestamptz',
  Int: 'int',
  Json: 'jsonb',
  String: 'text',
}

// Prisma's client does not publish its datamodel, so this is the copy that Pothos has generated from the same schema.
const { models } = getDatamodel().datamodel

/** Returns all columns of a table, as the datamodel has them. */
export function columnsOf<In extends Table>(table: In): Readonly<Record<ColumnOf<In>, string>> {
  const fields = (models[table]?.fields ?? []).filter(({ kind }) => kind !== 'object')
  return Object.fromEntries(
    fields.map(({ name, kind, type, isList }) => {
      const sqlType = kind === 'enum' ? `"${type}"` : sqlTypes[type]
      if (sqlType === undefined)
        throw new Error(`The column ${name} of ${table} is of the type ${type}, which has no SQL type here.`)
      return [name, isList ? `${sqlType}[]` : sqlType]
    }),
  ) as Record<ColumnOf<In>, string>
}

export function primaryKeyOf(table: Table): readonly string[] {
  const model = models[table]
  return model?.primaryKey?.fields ?? (model?.fields ?? []).filter(({ isId }) => isId).map(({ name }) => name)
}

function columnsOfRow<In extends keyof Rows>(table: In): Columns<Rows[In]> {
  const columns = Object.entries<string>(columnsOf(table)).filter(([name]) => !(name in setByStatement[table]))
  return Object.fromEntries(columns) as Columns<Rows[In]>
}

export const replicaColumns = columnsOfRow('Replica')
export const rolloutColumns = columnsOfRow('Rollout')
/** The columns of Service that rules decide. */
export const serviceColumns = columnsOfRow('Service')
export const slotColumns = columnsOfRow('Slot')
export const timerColumns = columnsOfRow('Timer')
export const versionColumns = columnsOfRow('ServiceVersion')

export const identityColumns = Object.fromEntries(
  Object.entries(columnsOf('Service')).filter(([name]) => name in identity),
) as Columns<ServiceIdentity>

export type JsonRow = Readonly<Record<string, unknown>>

/** Returns a row of the model as the statement takes it, with instants as ISO text. */
export function encodeRow<Row extends object>(
  columns: Columns<Row>,
  row: NoInfer<Row>,
): { [Column in keyof Row]: unknown } {
  const encoded: Record<string, unknown> = {}
  for (const name in columns) {
    const value = row[name]
    encoded[name] = columns[name] === 'timestamptz' && value !== null ? encodeInstant(value as Instant) : value
  }
  return encoded as { [Column in keyof Row]: unknown }
}

/** Returns a row of the model from PostgreSQL's JSON. */
export function decodeRow<Row>(columns: Columns<Row>, row: JsonRow): Row {
  const decoded: Record<string, unknown> = {}
  for (const name in columns) {
    const value = row[name]
    decoded[name] = columns[name] === 'timestamptz' && value !== null ? Date.parse(value as string) : value
  }
  return decoded as Row
}

export function encodeInstant(instant: Instant): string {
  return new Date(instant).toISOString()
}
