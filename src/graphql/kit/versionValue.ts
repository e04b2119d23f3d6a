import type { ServiceVersion as VersionRow } from '../../generated/prisma/client.ts'
import type { ProfileRevisionId, VersionId } from '../../model/id.ts'
import type { Version } from '../../model/service.ts'

/** A row of ServiceVersion as the rules take it: the store writes nothing else into its JSON columns. */
export function versionValue({
  serviceId: _,
  id,
  profileRevisionId,
  content,
  overrides,
  template,
  createdAt,
  ...row
}: VersionRow): Version {
  return {
    ...row,
    id: id as VersionId,
    profileRevisionId: profileRevisionId as ProfileRevisionId,
    content: content as unknown as Version['content'],
    overrides: overrides as unknown as Version['overrides'],
    template: template as unknown as Version['template'],
    createdAt: createdAt.getTime(),
  }
}
