import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import { check } from '../kit/check.ts'
import { name, whole } from '../kit/values.ts'

const applyQueue = z.object({ name, priority: whole('priorities', bounds.queuePriority) })

export function checkQueue(input: unknown): { readonly name: string; readonly priority: number } {
  return check(applyQueue, input)
}
