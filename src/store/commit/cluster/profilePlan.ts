import { isDeepStrictEqual } from 'node:util'
import type { Profile, ProfileRevision } from '../../../generated/prisma/client.ts'
import type { ProfileId, ProfileRevisionId } from '../../../model/id.ts'
import { listed } from '../../../model/listed.ts'
import { changedParts, noMetadata } from '../../../model/metadata.ts'
import { quoted } from '../../../model/quoted.ts'
import { invalidInput } from '../../../model/refusal.ts'
import { changedProfile, type Dropped, droppedBy } from '../../../rules/service/changedProfile.ts'
import { sameContent } from '../../../rules/version/content.ts'
import { withKeptSecrets } from '../../../rules/version/environment.ts'
import type { Revision } from '../../../rules/version/fieldChanges.ts'
import type { Database } from '../../database/database.ts'
import type { ClusterChange } from '../outcome.ts'
import { type ClusterWritePlan, clusterEvent, refused } from './clusterFacts.ts'
import type { ClusterFact } from './clusterWriteStatement.ts'
import { namesOf, readUsers, type Users } from './users.ts'

type ProfileWrite = Extract<ClusterChange, { kind: 'applyProfile' | 'updateProfile' }>
type Known = Profile & { readonly newest: ProfileRevision }

/** A profile gets a new revision, unless its newest one says the same already. */
export async function planProfile(
  database: Database,
  change: ProfileWrite,
  newId: () => string,
): Promise<ClusterWritePlan> {
  const { name, actor } = change
  const known = await readProfile(database, name)
  const decided = decide(known, change)
  if ('write' in decided) return decided
  const { content, settings } = decided
  const profileId = (known?.id ?? newId()) as ProfileId
  const metadata = { ...(known ?? noMetadata), ...change.metadata }
  const { labels, annotations, description } = metadata
  const before = known ?? noMetadata
  const notes = {
    labels,
    annotations,
    description,
    labelsBefore: before.labels,
    annotationsBefore: before.annotations,
    descriptionBefore: before.description,
  }
  if (known && sameContent(known.newest.content, content) && isDeepStrictEqual(known.newest.settings, settings)) {
    const profileRevisionId = known.newest.id as ProfileRevisionId
    const outcome = { kind: 'profile', profileId, profileRevisionId, created: false } as const
    const noted = changedParts(known, change.metadata ?? {})
    const isBack = known.removedAt !== null
    if (noted.length === 0 && !isBack) return { write: null, outcome }
    const message = isBack
      ? `${actor} applied profile ${name} again: it has revision ${known.currentRevision}.`
      : `${actor} changed the ${listed(noted)} of profile ${name}.`
    const revision = { revision: known.currentRevision, revisionId: profileRevisionId, content, settings }
    const row = {
      id: profileId,
      name,
      isNew: false,
      isRevised: false,
      ...revision,
      ...notes,
      actor,
    }
    return { write: { table: 'profile', row, fact: factOf(profileId, message, actor) }, outcome }
  }
  const dropped = known === null || change.allowDropping ? [] : droppedBy(known.newest.content, content)
  const users = dropped.length === 0 ? null : await readUsers(database, { profileRevision: { profileId } })
  if (users !== null && users.count > 0) return refused(dropping(name, dropped, users))
  const profileRevisionId = newId() as ProfileRevisionId
  const revision = (known?.currentRevision ?? 0) + 1
  const message = `${actor} applied profile ${name}: it has revision ${revision}.`
  const row = {
    id: profileId,
    name,
    isNew: known === null,
    isRevised: true,
    ...notes,
    revision,
    revisionId: profileRevisionId,
    content,
    settings,
    actor,
  }
  return {
    write: { table: 'profile', row, fact: factOf(profileId, message, actor) },
    outcome: { kind: 'profile', profileId, profileRevisionId, created: true },
  }
}

function factOf(profileId: ProfileId, message: string, actor: string): ClusterFact {
  const data = { format: 1, profileId, wakesPlacement: false } as const
  return { kind: 'profile', hostId: null, data, event: clusterEvent('PROFILE', message, actor) }
}

async function readProfile({ prisma }: Database, name: string): Promise<Known | null> {
  const known = await prisma.profile.findUnique({ where: { name } })
  if (known === null) return null
  const where = { profileId_revision: { profileId: known.id, revision: known.currentRevision } }
  return { ...known, newest: await prisma.profileRevision.findUniqueOrThrow({ where }) }
}

/** What the next revision says, or why there is none. */
function decide(known: Known | null, change: ProfileWrite): Revision | ClusterWritePlan {
  if (change.kind === 'applyProfile') {
    const { variables, issues } = withKeptSecrets(change.content.env, known?.newest.content.env ?? [])
    if (issues.length === 0) return { content: { ...change.content, env: variables }, settings: change.settings }
    return refused(invalidInput(issues.map(({ path, message }) => ({ path: ['input', 'env', ...path], message }))))
  }
  const { name, expectedRevision } = change
  if (known === null || known.removedAt !== null) {
    const message = `There is no profile ${quoted(name)}: make it with applyProfile.`
    return refused({ code: 'NOT_FOUND', message, path: ['input', 'name'] })
  }
  if (expectedRevision !== null && expectedRevision !== known.currentRevision) {
    const message = `The newest revision of profile ${name} is ${known.currentRevision}, and not ${expectedRevision}: read it again, and decide again.`
    return refused({ code: 'INVALID_STATE', message, path: ['input', 'expectedRevision'] })
  }
  const { issues, ...revision } = changedProfile(known.newest, change.change)
  return issues.length > 0 ? refused(invalidInput(issues)) : revision
}

function dropping(name: string, dropped: readonly Dropped[], users: Users) {
  const what = listed(dropped.map(({ what }) => what))
  const message = `Profile ${name} would drop ${what}, and services use the profile: ${namesOf(users)}. Give allowDropping: true to drop ${dropped.length === 1 ? 'it' : 'them'} all the same; the services keep their revision until they are updated.`
  return { code: 'INVALID_STATE', message, path: ['input', dropped[0]?.field ?? 'ports'] } as const
}
