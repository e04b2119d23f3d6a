import { rowsPerCommit } from '../../model/bounds.ts'
import { counted } from '../../model/counted.ts'
import type { RolloutId, VersionId } from '../../model/id.ts'
import type { NewService } from '../../model/intent.ts'
import { noMetadata } from '../../model/metadata.ts'
import { invalidInput, type Refusal } from '../../model/refusal.ts'
import type { Rollout, ServiceColumns, ServiceSnapshot, Version } from '../../model/service.ts'
import type { Context } from '../draft/context.ts'
import { type Draft, draftOver } from '../draft/draft.ts'
import { recordEvent } from '../draft/events.ts'
import { markSpec } from '../draft/specGuards.ts'
import { newRollout } from '../rollout/newRollout.ts'
import { contentDigest } from '../version/contentDigest.ts'
import { mergedIssues } from '../version/mergedIssues.ts'
import { overLimit } from './scale.ts'
import { settingsInForce, settingsIssues } from './settings.ts'

/**
 * Makes a draft that creates the service with version 1 and with rollout 1, whose `from` is null (R5). The draft has
 * room for `mostRows`. It is refused with QUOTA_EXCEEDED if the service could never fit into its project's
 * `maxReplicas`.
 */
export function createDraft(
  service: NewService,
  maxReplicas: number | null,
  actor: string,
  ctx: Context,
  mostRows: number = rowsPerCommit,
): Draft | Refusal {
  const issues = mergedIssues(service.content, service.overrides.env).map(({ path, message }) => ({
    path: ['input', ...(isOwn(service, path) ? path : ['ports'])],
    message,
  }))
  const settings = settingsOf(service)
  const faults = settingsIssues(settings, service.ownSettings).map(({ path, message }) => ({
    path: ['input', 'settings', ...path],
    message,
  }))
  if (issues.length + faults.length > 0) return invalidInput([...issues, ...faults])
  const version: Version = {
    id: ctx.newId() as VersionId,
    number: 1,
    profileRevisionId: service.profileRevisionId,
    content: service.content,
    overrides: service.overrides,
    template: service.template,
    contentDigest: contentDigest(service.content),
    contentNumber: 1,
    origin: 'CREATE',
    cause: service.why ?? null,
    createdAt: ctx.now,
    createdBy: actor,
  }
  const draft = draftOver(
    unbornOf(service, maxReplicas, version, firstRollout(service, actor, ctx), ctx),
    true,
    mostRows,
  )
  const excess = overLimit(draft, service.replicas)
  if (excess !== null) return excess
  draft.insertedVersions.push(version)
  draft.why = service.why ?? null
  recordEvent(
    draft,
    'SERVICE_CREATED',
    `${actor} created service ${service.name} with ${counted(service.replicas, 'replica')}.`,
    actor,
  )
  markSpec(draft)
  return draft
}

const settingsOf = ({ template, ownSettings, content }: NewService) =>
  settingsInForce(template, ownSettings, content.ports)

/** A fault of a part that the service did not give was made by its ports. */
function isOwn({ overrides }: NewService, [field]: readonly string[]): boolean {
  return field === 'env' || overrides[field as keyof typeof overrides] !== null
}

function firstRollout(service: NewService, actor: string, ctx: Context): Rollout {
  const versions = { fromVersion: null, toVersion: 1 }
  const id = ctx.newId() as RolloutId
  return newRollout(
    {
      id,
      number: 1,
      ...versions,
      automatic: false,
      desiredReplicas: service.replicas,
      settings: settingsOf(service),
      paused: false,
      startedBy: actor,
    },
    ctx.now,
  )
}

/** Describes the service before its first commit: it has guard −1 and no replicas. */
function unbornOf(
  service: NewService,
  maxReplicas: number | null,
  version: Version,
  rollout: Rollout,
  ctx: Context,
): ServiceSnapshot {
  const columns: ServiceColumns = {
    desiredReplicas: service.replicas,
    versionNumber: 1,
    profileRevisionId: service.profileRevisionId,
    queueId: service.queueId,
    settings: settingsOf(service),
    ownSettings: service.ownSettings,
    ...noMetadata,
    ...service.metadata,
    paused: false,
    rolloutNumber: 1,
    completedVersion: null,
    previousVersion: null,
    provenVersion: null,
    restartNumber: null,
    activeReplicas: 0,
    runningReplicas: 0,
    readyReplicas: 0,
    availableReplicas: 0,
    updatedReplicas: 0,
    stoppingReplicas: 0,
    status: 'PROGRESSING',
    growingUntil: null,
    grownAvailable: 0,
    blockers: [],
    deletionRequestedAt: null,
    deletedAt: null,
  }
  const { id, projectId, projectName, name, owner } = service
  return {
    id,
    projectId,
    projectName,
    maxReplicas,
    name,
    owner,
    createdAt: ctx.now,
    guard: -1,
    revision: 0n,
    specRevision: 0n,
    columns,
    versions: new Map([[1, version]]),
    lastVersion: 1,
    contents: new Map([[version.contentDigest, 1]]),
    replicas: new Map(),
    slots: [],
    rollout,
    hosts: new Map(),
    timers: new Map(),
  }
}
