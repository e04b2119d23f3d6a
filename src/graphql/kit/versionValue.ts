import type { ServiceVersion as VersionRow } from '../../generated/prisma/client.ts'
import type { ProfileRevisionId, VersionId } from '../../model/id.ts'
import type { Version } from '../../model/service.ts'

/** Returns a row of ServiceVersion in the form that the rules take. */
export function versionValue({ serviceId: _, id, profileRevisionId, createdAt, ...row }: VersionRow): Version {
  return {
    ...row,
    id: id as VersionId,
    profileRevisionId: profileRevisionId as ProfileRevisionId,
    createdAt: createdAt.getTime(),
  }
}
