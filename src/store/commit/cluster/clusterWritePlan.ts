import type { ProjectId, QueueId } from '../../../model/id.ts'
import type { Database } from '../../database/database.ts'
import type { ClusterChange } from '../outcome.ts'
import { type ClusterWritePlan, clusterEvent } from './clusterFacts.ts'
import { planHost } from './hostPlan.ts'
import { planProfile } from './profilePlan.ts'
import { planEndOfQuarantine } from './quarantinePlan.ts'
import { planRegistration } from './registrationPlan.ts'
import { planRemoval } from './removalPlan.ts'

type NewId = () => string
type ApplyProject = Extract<ClusterChange, { kind: 'applyProject' }>
type ApplyQueue = Extract<ClusterChange, { kind: 'applyQueue' }>

/**
 * Reads what the change is about and decides on it. The guard of the write finds out whether the decision still holds.
 */
export function planClusterWrite(database: Database, change: ClusterChange, newId: NewId): Promise<ClusterWritePlan> {
  switch (change.kind) {
    case 'applyProfile':
    case 'updateProfile':
      return planProfile(database, change, newId)
    case 'applyProject':
      return planProject(database, change, newId)
    case 'applyQueue':
      return planQueue(database, change, newId)
    case 'deleteProfile':
    case 'deleteProject':
    case 'deleteQueue':
      return planRemoval(database, change)
    case 'registerWorker':
      return planRegistration(database, change, newId)
    case 'endQuarantine':
      return planEndOfQuarantine(database, change)
    default:
      return planHost(database, change)
  }
}

async function planProject({ prisma }: Database, change: ApplyProject, newId: NewId): Promise<ClusterWritePlan> {
  const { name, maxReplicas, actor } = change
  const known = await prisma.project.findUnique({ where: { name } })
  const projectId = (known?.id ?? newId()) as ProjectId
  if (known?.removedAt === null && known.maxReplicas === maxReplicas)
    return { write: null, outcome: { kind: 'project', projectId, changed: false } }
  const limit = maxReplicas === null ? 'no limit of replicas' : `a limit of ${maxReplicas} replicas`
  const message = known ? `${actor} gave project ${name} ${limit}.` : `${actor} created project ${name} with ${limit}.`
  return {
    write: {
      table: 'project',
      row: { id: projectId, name, isNew: known === null, maxReplicas },
      fact: {
        kind: 'project',
        hostId: null,
        data: { format: 1, projectId, wakesPlacement: true },
        event: clusterEvent('PROJECT', message, actor),
      },
    },
    outcome: { kind: 'project', projectId, changed: true },
  }
}

async function planQueue({ prisma }: Database, change: ApplyQueue, newId: NewId): Promise<ClusterWritePlan> {
  const { name, priority, actor } = change
  const known = await prisma.queue.findUnique({ where: { name } })
  const queueId = (known?.id ?? newId()) as QueueId
  if (known?.removedAt === null && known.priority === priority)
    return { write: null, outcome: { kind: 'queue', queueId, changed: false } }
  const message = known
    ? `${actor} gave queue ${name} priority ${priority}.`
    : `${actor} created queue ${name} with priority ${priority}.`
  return {
    write: {
      table: 'queue',
      row: { id: queueId, name, isNew: known === null, priority },
      // EventKind has no value for queues, which order services as projects do.
      fact: {
        kind: 'queue',
        hostId: null,
        data: { format: 1, queueId, wakesPlacement: true },
        event: clusterEvent('PROJECT', message, actor),
      },
    },
    outcome: { kind: 'queue', queueId, changed: true },
  }
}
