import type { ReplicaId } from '../../model/id.ts'
import type { Replica } from '../../model/service.ts'

/**
 * A read-only map of rows in the order of their ids. It is an array inside, because a commit's copy of 1,000 rows then
 * costs next to nothing, while a copied Map costs more than all the rules.
 */
export class ReplicaRows implements ReadonlyMap<ReplicaId, Replica> {
  readonly rows: readonly Replica[]

  constructor(rows: readonly Replica[]) {
    this.rows = rows
  }

  /** Takes the rows of a snapshot, which has them in order. */
  static of(rows: ReadonlyMap<ReplicaId, Replica>): ReplicaRows {
    return rows instanceof ReplicaRows ? rows : new ReplicaRows([...rows.values()])
  }

  get size(): number {
    return this.rows.length
  }

  get(id: ReplicaId): Replica | undefined {
    const row = this.rows[positionOf(this.rows, id)]
    return row?.id === id ? row : undefined
  }

  has(id: ReplicaId): boolean {
    return this.get(id) !== undefined
  }

  values(): ReturnType<Replica[]['values']> {
    return this.rows.values()
  }

  keys(): ReturnType<Map<ReplicaId, Replica>['keys']> {
    return this.rows.map((row) => row.id).values()
  }

  entries(): ReturnType<Map<ReplicaId, Replica>['entries']> {
    return this.rows.map((row): [ReplicaId, Replica] => [row.id, row]).values()
  }

  [Symbol.iterator](): ReturnType<Map<ReplicaId, Replica>['entries']> {
    return this.entries()
  }

  forEach(each: (row: Replica, id: ReplicaId, map: ReadonlyMap<ReplicaId, Replica>) => void): void {
    for (const row of this.rows) each(row, row.id, this)
  }
}

/** Rows that a draft changes. They are a copy of their own from the first write on. */
export class DraftRows extends ReplicaRows {
  declare readonly rows: Replica[]

  constructor(base: ReplicaRows) {
    super([...base.rows])
  }

  set(row: Replica): void {
    const at = positionOf(this.rows, row.id)
    if (this.rows[at]?.id === row.id) this.rows[at] = row
    else if (at === this.rows.length) this.rows.push(row)
    else this.rows.splice(at, 0, row)
  }

  delete(id: ReplicaId): void {
    const at = positionOf(this.rows, id)
    if (this.rows[at]?.id === id) this.rows.splice(at, 1)
  }
}

/** Finds where `id` is or would be. New ids are mostly the highest. */
function positionOf(rows: readonly Replica[], id: ReplicaId): number {
  const last = rows.at(-1)
  if (last === undefined || last.id < id) return rows.length
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((rows[middle]?.id ?? id) < id) low = middle + 1
    else high = middle
  }
  return low
}
