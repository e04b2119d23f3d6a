import { getRefFromModel, type PrismaObjectRef } from '@pothos/plugin-prisma'
import type PrismaTypes from '../../generated/pothos.ts'
import { builder } from './builder.ts'
import type { Rows } from './rowLoaders.ts'

/**
 * The type whose objects are rows of this table, for fields of types that it leads back to itself: their files can't import its own. Such a
 * field loads its row by `context.rows`.
 */
export function rowType<Table extends keyof Rows>(table: Table) {
  return getRefFromModel(table, builder) as unknown as PrismaObjectRef<
    (typeof builder)['$inferSchemaTypes'],
    PrismaTypes[Table]
  >
}
