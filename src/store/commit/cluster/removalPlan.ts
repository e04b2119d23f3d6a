import type { ProfileId, ProjectId, QueueId } from '../../../model/id.ts'
import { quoted } from '../../../model/quoted.ts'
import type { Database } from '../../database/database.ts'
import type { ClusterChange } from '../outcome.ts'
import { type ClusterWritePlan, clusterEvent, refused } from './clusterFacts.ts'
import { namesOf, readUsers } from './users.ts'

type Removal = Extract<ClusterChange, { kind: 'deleteProfile' | 'deleteProject' | 'deleteQueue' }>

/** The project and the queue that exist from the first start on, and that createService takes when none is named. */
const kept = 'default'

/** A profile, project or queue is deleted when no service uses it. Its row stays for the history that names it. */
export async function planRemoval(database: Database, { kind, name, actor }: Removal): Promise<ClusterWritePlan> {
  const { prisma } = database
  const what = { deleteProfile: 'profile', deleteProject: 'project', deleteQueue: 'queue' }[kind]
  const where = { name, removedAt: null }
  const known =
    kind === 'deleteProfile'
      ? await prisma.profile.findFirst({ where })
      : kind === 'deleteProject'
        ? await prisma.project.findFirst({ where })
        : await prisma.queue.findFirst({ where })
  if (known === null) {
    const message = `There is no ${what} ${quoted(name)}: it is deleted already, or never existed.`
    return refused({ code: 'NOT_FOUND', message, path: ['input', 'name'] })
  }
  if (kind !== 'deleteProfile' && name === kept) {
    const message = `The ${what} ${kept} can't be deleted: services that name no ${what} belong to it.`
    return refused({ code: 'INVALID_STATE', message, path: ['input', 'name'] })
  }
  const { id } = known
  const uses =
    kind === 'deleteProfile'
      ? { profileRevision: { profileId: id } }
      : kind === 'deleteProject'
        ? { projectId: id }
        : { queueId: id }
  const users = await readUsers(database, uses)
  if (users.count > 0) {
    const message = `The ${what} ${name} is used by ${users.count === 1 ? 'a service' : 'services'}: ${namesOf(users)}. Delete ${users.count === 1 ? 'it' : 'them'} first, and wait until the last replica has ended.`
    return refused({ code: 'INVALID_STATE', message, path: ['input', 'name'] })
  }
  const row = { id }
  const message = `${actor} deleted ${what} ${name}.`
  const data = { format: 1, wakesPlacement: false } as const
  if (kind === 'deleteProfile') {
    const profileId = id as ProfileId
    const event = clusterEvent('PROFILE', message, actor)
    const fact = { kind: 'profile', hostId: null, data: { ...data, profileId }, event } as const
    return { write: { table: 'profileRemoval', row, fact }, outcome: { kind: 'removed', id } }
  }
  const event = clusterEvent('PROJECT', message, actor)
  if (kind === 'deleteProject') {
    const fact = { kind: 'project', hostId: null, data: { ...data, projectId: id as ProjectId }, event } as const
    return { write: { table: 'projectRemoval', row, fact }, outcome: { kind: 'removed', id } }
  }
  const fact = { kind: 'queue', hostId: null, data: { ...data, queueId: id as QueueId }, event } as const
  return { write: { table: 'queueRemoval', row, fact }, outcome: { kind: 'removed', id } }
}
