import type { ServiceId } from '../model/id.ts'
import type { ServiceIntent } from '../model/intent.ts'
import type { Refusal } from '../model/refusal.ts'
import type { RolloutPlan } from '../simulation/plan.ts'
import { Preview } from '../simulation/preview.ts'
import { readForPreview } from '../store/readForPreview.ts'
import type { App } from './app.ts'

/** Between two looks at what else is to be done: a preview only takes what time is left. */
const sliceMillis = 20

/** One at a time per server, however many are asked for. */
let running: Promise<unknown> = Promise.resolve()

/** What an intent would lead to, from the service and the cluster as they are now. Nothing is changed. */
export async function previewOf(
  app: Pick<App, 'database' | 'clock' | 'log'>,
  serviceId: ServiceId,
  intent: ServiceIntent,
  readyAfterSeconds: number,
): Promise<RolloutPlan | Refusal> {
  const turn = running.then(() => run(app, serviceId, intent, readyAfterSeconds))
  running = turn.catch(() => undefined)
  return turn
}

async function run(
  { database, clock, log }: Pick<App, 'database' | 'clock' | 'log'>,
  serviceId: ServiceId,
  intent: ServiceIntent,
  readyAfterSeconds: number,
): Promise<RolloutPlan | Refusal> {
  const state = await readForPreview(database, serviceId)
  if (state === null) return { code: 'NOT_FOUND', message: 'The service is gone.', path: ['input', 'service'] }
  const { snapshot, queuePriority, project, placement } = state
  const { hosts, waiting, projects } = placement
  const now = clock.now()
  const preview = new Preview({ snapshot, queuePriority, project, hosts, waiting, projects, intent, readyAfterSeconds, now })
  if (preview.refusal !== null) return preview.refusal
  for (let more = true; more; ) {
    const until = performance.now() + sliceMillis
    while (more && performance.now() < until) more = preview.step()
    if (more) await new Promise((resolve) => setImmediate(resolve))
  }
  if (preview.faults.length > 0) log.error({ service: serviceId, faults: preview.faults }, 'A preview broke invariants of the rules.')
  return preview.plan()
}
