import { builder } from '../builder.ts'
import { noneLeft } from '../check.ts'
import { enumOf } from '../enumOf.ts'
import type { Listing, OrderColumn } from './listing.ts'

type Direction = 'ASC' | 'DESC'

const OrderDirection = enumOf<Direction>('OrderDirection', 'The direction of an order.', {
  ASC: 'From the least to the greatest.',
  DESC: 'From the greatest to the least.',
})

interface Choice extends OrderColumn {
  readonly description: string
}

/** An order as callers give it. */
export interface Order<Field extends string> {
  readonly field: Field
  readonly direction: Direction
}

interface Orders<Field extends string> {
  /** The name of the objects' type, with which the names of the input and of its enum begin. */
  readonly type: string
  /** What is ordered, in the plural. */
  readonly things: string
  /** The columns that it can be ordered by. The first is the order where none is given. */
  readonly choices: Readonly<Record<Field, Choice>>
  /** The connection in its usual order, which is that of the first choice, ascending. */
  readonly listing: Omit<Listing, 'order' | 'descending'>
}

/**
 * Declares the argument `orderBy` of a connection and returns it with the listing that each order makes. Where two have the
 * same value, the id decides.
 */
export function orderOf<Field extends string>({ type, things, choices, listing }: Orders<Field>) {
  const [usual] = Object.keys(choices) as Field[]
  const descriptions = Object.entries<Choice>(choices).map(([field, { description }]) => [field, description])
  const field = enumOf<Field>(
    `${type}OrderField`,
    `The fields that ${things} can be ordered by. Where two are equal, the id decides.`,
    Object.fromEntries(descriptions) as Record<Field, string>,
  )
  const input = builder.inputRef<Order<Field>>(`${type}Order`).implement({
    description: `The order of ${things}.`,
    // Pothos can't tell the type of the enum as long as its values are a parameter.
    fields: (t) =>
      ({
        field: t.field({ type: field, required: true, description: 'The field to order by.' }),
        direction: t.field({ type: OrderDirection, required: true, description: 'The direction of the order.' }),
      }) as never,
  })
  return {
    input,
    description: `The order; by ${usual?.toLowerCase().replaceAll('_', ' ')} when left out.`,
    listingBy: (given: Order<Field> | null | undefined): Listing => {
      const { field: by, direction, ...rest } = given ?? { field: usual as Field, direction: 'ASC' as const }
      noneLeft(rest)
      const { column, type } = choices[by]
      const order = [{ column, type }, { column: 'id', type: 'text' } as const]
      return { ...listing, order, descending: direction === 'DESC' }
    },
  }
}
