import { enumOf } from '../kit/enumOf.ts'

type Kind = 'SNAPSHOT' | 'DELTA' | 'BOOKMARK' | 'GONE'

export const ChangeKind = enumOf<Kind>('ChangeKind', 'What a frame of a subscription is.', {
  SNAPSHOT: 'Everything, as it is at the revision: forget what was known before.',
  DELTA: 'What changed since the previous frame.',
  BOOKMARK: 'Nothing changed; the position moved on.',
  GONE: 'It was deleted, or may not be seen any more: the subscription ends.',
})
