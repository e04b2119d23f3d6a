import type { ProfileRevisionId, RolloutId } from '../../src/model/id.ts'
import type {
  PauseIntent,
  ProfileRevisionView,
  RestartIntent,
  RollbackIntent,
  UpdateIntent,
} from '../../src/model/intent.ts'
import type { ServiceSnapshot, Version } from '../../src/model/service.ts'
import type { Scene } from './scene.ts'
import { content, settings } from './services.ts'

// The intents of a rollout, and what a test asks of one.

let rollouts = 0
const user = { expectedRevision: null, actor: 'alice' } as const
const nextId = () => `rollout-${++rollouts}` as RolloutId

/** To other content (`release`), unless `over` says more. */
export const updateTo = (release: string | null, over: Partial<UpdateIntent> = {}): UpdateIntent => ({
  kind: 'update',
  profile: null,
  overrides: release === null ? {} : { command: ['/bin/serve', release] },
  replicas: null,
  maxReplicas: null,
  rollout: {},
  startPaused: false,
  rolloutId: nextId(),
  ...user,
  ...over,
})

export const restartIntent = (over: Partial<RestartIntent> = {}): RestartIntent => ({
  kind: 'restart',
  rolloutId: nextId(),
  ...user,
  ...over,
})

export const rollbackTo = (to: Version | null = null, over: Partial<RollbackIntent> = {}): RollbackIntent => ({
  kind: 'rollback',
  to,
  rolloutId: nextId(),
  ...user,
  ...over,
})

export const pauseIntent: PauseIntent = { kind: 'pause', ...user }
export const resumeIntent: PauseIntent = { kind: 'resume', ...user }

/** Revision 2, 3 … of the service's profile. */
export const profileRevision = (number: number, over: Partial<ProfileRevisionView> = {}): ProfileRevisionView => ({
  id: `profile-revision-${number}` as ProfileRevisionId,
  content: content(),
  settings: settings(),
  ...over,
})

/** Active replicas by version: "3 v1 + 2 v2", and "*" for those that leave. */
export function mixOf({ replicas }: Pick<ServiceSnapshot, 'replicas'>): string {
  const counts = new Map<string, number>()
  for (const row of replicas.values()) {
    if (row.state === 'STOPPING') continue
    const key = `v${row.versionNumber}${row.leaving === null ? '' : '*'}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([version, count]) => `${count} ${version}`)
    .join(' + ')
}

/** Lets everything become ready until the rollout has finished. Returns the mix of versions after each step. */
export function roll(scene: Scene): string[] {
  const steps: string[] = []
  for (let round = 0; round < 100; round++) {
    if (scene.snapshot.rollout.finishedAt !== null) return steps
    scene.place()
    scene.ready()
    scene.confirmStops()
    steps.push(mixOf(scene.snapshot))
  }
  throw new Error(`The rollout does not finish: ${JSON.stringify(scene.snapshot.rollout)}`)
}
