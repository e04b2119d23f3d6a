import { listPart } from '../../feed/frames/serviceFrames.ts'
import type { Revision } from '../../model/id.ts'
import type { builder } from '../kit/builder.ts'
import { enumOf } from '../kit/enumOf.ts'

type Kind = 'SNAPSHOT' | 'DELTA' | 'BOOKMARK' | 'GONE'

interface Frame {
  readonly kind: Kind
  readonly revision: Revision
}

type FrameFieldBuilder<Shape> = PothosSchemaTypes.ObjectFieldBuilder<(typeof builder)['$inferSchemaTypes'], Shape>

const ChangeKind = enumOf<Kind>('ChangeKind', 'What a frame of a subscription is.', {
  SNAPSHOT: 'Everything, as it is at the revision: forget what was known before.',
  DELTA: 'What changed since the previous frame.',
  BOOKMARK: 'Nothing changed; the position moved on. It comes only to those who ask for it.',
  GONE: 'It was deleted, or may not be seen any more: the subscription ends.',
})

/** The fields that every frame of every subscription begins with. */
export function frameFields<Shape extends Frame>(t: FrameFieldBuilder<Shape>) {
  return {
    kind: t.field({ type: ChangeKind, description: 'What this frame is.', resolve: ({ kind }) => kind }),
    revision: t.field({
      type: 'Revision',
      description: 'Its position in the fact log.',
      resolve: ({ revision }) => revision,
    }),
  }
}

/** The same for frames that come in parts. `what`: the objects of which a part has so many at most. */
export function partFields<Shape extends Frame & { readonly last: boolean }>(
  t: FrameFieldBuilder<Shape>,
  what?: string,
) {
  const size = what === undefined ? '' : `; parts have at most ${listPart} ${what}`
  return {
    ...frameFields(t),
    last: t.boolean({
      description: `Whether this is the final part of the frame${size}.`,
      resolve: ({ last }) => last,
    }),
  }
}
