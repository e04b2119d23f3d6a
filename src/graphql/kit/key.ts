import { z } from 'zod'
import { idempotencyKey } from './values.ts'

/** Every input of a user's mutation. */
export const keyed = z.object({ idempotencyKey: idempotencyKey.nullish() })
