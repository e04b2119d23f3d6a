import type { Instant } from './id.ts'

/**
 * A row as the rules take it, derived from the model that Prisma generates: instants are numbers, and nothing is changed in place. `Ids` gives the
 * kinds of its ids; null stays where the datamodel has it.
 */
export type Row<Model, Ids extends IdsOf<Ids, Model>> = {
  readonly [Column in keyof Model]: Column extends keyof Ids
    ? Ids[Column] | Extract<Model[Column], null>
    : ValueOf<Model[Column]>
}

type IdsOf<Ids, Model> = { readonly [Column in keyof Ids]: Column extends keyof Model ? string : never }

type ValueOf<Value> = unknown extends Value
  ? // A JSON column whose type is not declared in jsonColumns.ts is `unknown` or `any` there: as `never` it can't be written by mistake.
    never
  : // biome-ignore lint/style/noRestrictedGlobals: only its type is named.
    Value extends Date
    ? Instant
    : Value extends unknown[]
      ? Readonly<Value>
      : Value
