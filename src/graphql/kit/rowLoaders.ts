import DataLoader from 'dataloader'
import {
  type Host,
  Prisma,
  type PrismaClient,
  type Profile,
  type ProfileRevision,
  type Project,
  type Queue,
  type Replica,
  type Rollout,
  type Service,
  type ServiceVersion,
  type Worker,
} from '../../generated/prisma/client.ts'
import { errorOf } from './refusalError.ts'

/** The tables whose rows other objects name by an id. */
interface RowsById {
  readonly Host: Host
  readonly Profile: Profile
  readonly ProfileRevision: ProfileRevision
  readonly Project: Project
  readonly Queue: Queue
  readonly Replica: Replica
  readonly Rollout: Rollout
  readonly Service: Service
  readonly Worker: Worker
}

/** The tables whose rows have a number within what they belong to. */
interface RowsByNumber {
  readonly ProfileRevision: ProfileRevision
  readonly Rollout: Rollout
  readonly ServiceVersion: ServiceVersion
}

const numbered: Readonly<Record<keyof RowsByNumber, { readonly owner: string; readonly number: string }>> = {
  ProfileRevision: { owner: 'profileId', number: 'revision' },
  Rollout: { owner: 'serviceId', number: 'number' },
  ServiceVersion: { owner: 'serviceId', number: 'number' },
}

type ById = keyof RowsById
type ByNumber = keyof RowsByNumber

/** Every table of which an object of the API is a row that another object leads to. */
export interface Rows extends RowsById, RowsByNumber {}

/** Messages call the objects so. */
const words: Readonly<Record<keyof Rows, string>> = {
  Host: 'host',
  Profile: 'profile',
  ProfileRevision: "profile's revision",
  Project: 'project',
  Queue: 'queue',
  Replica: 'replica',
  Rollout: 'rollout',
  Service: 'service',
  ServiceVersion: 'version',
  Worker: 'worker',
}

type Row = Readonly<Record<string, unknown>>

/**
 * Loads the rows that objects lead to: one statement per table for all objects that ask in one moment, and each row once. Made per request
 * and per pushed event. It batches and does not cache: a second mutation of a document must not see what the first one read.
 *
 * A relation of Pothos would not do: rows that a raw statement has read (every connection's) are read again by it, with the relation.
 */
export class RowLoaders {
  readonly #prisma: PrismaClient
  readonly #byId = new Map<ById, DataLoader<string, Row | null>>()
  readonly #byNumber = new Map<ByNumber, DataLoader<string, Row | null>>()

  constructor(prisma: PrismaClient) {
    this.#prisma = prisma
  }

  /** The row with this id; null when there is none, or when `id` is null. */
  load<Table extends ById>(table: Table, id: string | null): Promise<RowsById[Table] | null> {
    if (id === null) return Promise.resolve(null)
    let loader = this.#byId.get(table)
    if (loader === undefined) {
      loader = new DataLoader((ids) => this.#loadById(table, ids), { cache: false })
      this.#byId.set(table, loader)
    }
    return loader.load(id) as Promise<RowsById[Table] | null>
  }

  /** The row with this number of a service or profile; null when there is none, or when `number` is null. */
  loadNumbered<Table extends ByNumber>(
    table: Table,
    owner: string,
    number: number | null,
  ): Promise<RowsByNumber[Table] | null> {
    if (number === null) return Promise.resolve(null)
    let loader = this.#byNumber.get(table)
    if (loader === undefined) {
      loader = new DataLoader((keys) => this.#loadByNumber(table, keys), { cache: false })
      this.#byNumber.set(table, loader)
    }
    return loader.load(keyOf(owner, number)) as Promise<RowsByNumber[Table] | null>
  }

  /** The same for fields that are never null: throws NOT_FOUND where there is no row. */
  async require<Table extends ById>(table: Table, id: string): Promise<RowsById[Table]> {
    return present(table, await this.load(table, id))
  }

  async requireNumbered<Table extends ByNumber>(
    table: Table,
    owner: string,
    number: number,
  ): Promise<RowsByNumber[Table]> {
    return present(table, await this.loadNumbered(table, owner, number))
  }

  async #loadById(table: ById, ids: readonly string[]): Promise<readonly (Row | null)[]> {
    const rows = await this.#prisma.$queryRaw<Row[]>(
      Prisma.sql`SELECT t.* FROM ${quoted(table)} t WHERE t.id = ANY(${[...new Set(ids)]}::text[])`,
    )
    return inOrder(rows, (row) => row['id'], ids)
  }

  async #loadByNumber(table: ByNumber, keys: readonly string[]): Promise<readonly (Row | null)[]> {
    const { owner, number } = numbered[table]
    const wanted = [...new Set(keys)].map((key) => key.split(' '))
    const owners = wanted.map(([id]) => id)
    const numbers = wanted.map(([, text]) => Number(text))
    const rows = await this.#prisma.$queryRaw<Row[]>(
      Prisma.sql`SELECT t.* FROM unnest(${owners}::text[], ${numbers}::int[]) AS k(owner, number)
        JOIN ${quoted(table)} t ON t.${quoted(owner)} = k.owner AND t.${quoted(number)} = k.number`,
    )
    return inOrder(rows, (row) => keyOf(row[owner], row[number]), keys)
  }
}

/**
 * A row that a field needs which is never null. It may be gone: the object that leads to it was read a moment earlier, and what the
 * retention removes goes with all that it led to. The caller is told so, as it is no fault of the server.
 */
export function present<Row>(table: keyof Rows, row: Row | null): Row {
  if (row !== null) return row
  throw errorOf({
    code: 'NOT_FOUND',
    message: `The ${words[table]} is no longer kept: it was removed before this was read. Read what led to it again.`,
    path: [],
  })
}

const quoted = (name: string): Prisma.Sql => Prisma.raw(`"${name}"`)
const keyOf = (owner: unknown, number: unknown): string => `${owner} ${number}`

function inOrder(
  rows: readonly Row[],
  keyOfRow: (row: Row) => unknown,
  keys: readonly string[],
): readonly (Row | null)[] {
  const byKey = new Map(rows.map((row) => [keyOfRow(row), row]))
  return keys.map((key) => byKey.get(key) ?? null)
}
