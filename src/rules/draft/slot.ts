import type { Slot } from '../../model/service.ts'

/** `index/contentNumber`, because failures are remembered per slot and content (R10). */
export type SlotKey = `${number}/${number}`

export const slotKey = (index: number, contentNumber: number): SlotKey => `${index}/${contentNumber}`

export const keyOf = (row: Pick<Slot, 'index' | 'contentNumber'>): SlotKey => slotKey(row.index, row.contentNumber)
