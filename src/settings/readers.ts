import { z } from 'zod'
import { itemsOf } from './setting.ts'

export const onOff = z.enum(['on', 'off'], { error: 'say on or off' }).transform((word) => word === 'on')

export function oneOf<const Word extends string>(...words: readonly Word[]) {
  return z.enum(words, { error: `say ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` })
}

export const logLevel = oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
export type LogLevel = z.output<typeof logLevel>

export const logFormat = oneOf('json', 'pretty')
export type LogFormat = z.output<typeof logFormat>

/** `what` names the number in the message, for example "a port" or "seconds". */
export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }, what = 'a whole number') {
  const error = `give ${what} from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d+$/, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
}

/** A list of items that commas separate. A fault names its item, so every item has its own sentence. */
export function listOf<Item>(item: z.ZodType<Item, string>) {
  return z.string().transform(itemsOf).pipe(z.array(item))
}

/** Whether a reader is one of `listOf`. */
export function readsList(read: z.ZodType): boolean {
  return read instanceof z.ZodPipe && read.out instanceof z.ZodArray
}
