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

export const ChangeKind = enumOf<Kind>('ChangeKind', 'The kinds of frames of a subscription.', {
  SNAPSHOT: 'Everything, as it is at the revision. The receiver forgets what it knew before.',
  DELTA: 'What changed since the previous frame.',
  BOOKMARK: 'Nothing changed, and the position moved on. Only subscribers who ask for bookmarks get it.',
  GONE: 'The object was deleted, or the caller may no longer see it. The subscription ends.',
})

/** The fields that every frame of every subscription begins with. */
export function frameFields<Shape extends Frame>(t: FrameFieldBuilder<Shape>) {
  return {
    kind: t.field({ type: ChangeKind, description: 'The kind of this frame.', resolve: ({ kind }) => kind }),
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
