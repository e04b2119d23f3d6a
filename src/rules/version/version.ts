import type { VersionOrigin } from '../../generated/prisma/enums.ts'
import type { VersionId } from '../../model/id.ts'
import type { Version } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import type { Draft } from '../draft/draft.ts'
import { contentDigest } from './contentDigest.ts'

/** The part of a version that is taken over from an older one or made by an update. */
export type VersionBody = Pick<Version, 'profileRevisionId' | 'content' | 'overrides' | 'template'>

/** Adds the service's next version. Its `contentNumber` is the lowest number that ever had equal content. */
export function addVersion(
  draft: Draft,
  body: VersionBody,
  origin: VersionOrigin,
  actor: string,
  ctx: Context,
): Version {
  const number = (draft.insertedVersions.at(-1)?.number ?? draft.base.lastVersion) + 1
  const digest = contentDigest(body.content)
  const version: Version = {
    id: ctx.newId() as VersionId,
    number,
    profileRevisionId: body.profileRevisionId,
    content: body.content,
    overrides: body.overrides,
    template: body.template,
    contentDigest: digest,
    contentNumber: contentNumberOf(draft, digest) ?? number,
    origin,
    cause: draft.why,
    createdAt: ctx.now,
    createdBy: actor,
  }
  draft.insertedVersions.push(version)
  return version
}

/** The number under which the service knows a content; null when the content is new to it. */
export function contentNumberOf(draft: Draft, digest: string): number | null {
  const inserted = draft.insertedVersions.find((version) => version.contentDigest === digest)
  return draft.base.contents.get(digest) ?? inserted?.contentNumber ?? null
}
