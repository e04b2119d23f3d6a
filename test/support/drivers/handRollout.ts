import type { ApiClient } from './apiClient.ts'
import type { HandWorker, Seen } from './handWorker.ts'
import { RolloutView, type RunningSeen, type ServiceSeen } from './rolloutView.ts'

/** What processes of a version do. `stays`: as it is, nothing is reported of it. */
export type Behaviour = 'ready' | 'unready' | 'exits' | 'gives up' | 'stays'

/**
 * Rollouts of a service whose replicas on one host do what a test says of their version: those that are asked to stop stop, the others are
 * ready unless `behaviours` says else.
 */
export class HandRollout extends RolloutView {
  readonly worker: HandWorker
  readonly behaviours = new Map<number, Behaviour>()
  /** Whether replicas that are asked to stop do so. */
  stops = true

  constructor(client: ApiClient, worker: HandWorker, name: string, project = 'default') {
    super(client, name, project)
    this.worker = worker
  }

  /** Lets the processes on the host, at most `most` of them, do once what their version does. False: there was nothing to do. */
  async act(most = Number.POSITIVE_INFINITY): Promise<boolean> {
    const here = (await this.replicas()).filter(({ host }) => host.name === this.worker.name)
    const reports = here.flatMap((row) => this.#actOf(row)).slice(0, most)
    if (reports.length > 0) await this.worker.report(...reports)
    return reports.length > 0
  }

  /** Acts, at most `most` of them between two looks, until the service is as `check` says. */
  actUntil(
    what: string,
    check: (service: ServiceSeen) => boolean,
    { most = Number.POSITIVE_INFINITY } = {},
  ): Promise<ServiceSeen> {
    return this.lookUntil(what, check, () => this.act(most))
  }

  completed(number: number): Promise<ServiceSeen> {
    return this.actUntil(
      `rollout ${number} is complete`,
      ({ rollout }) => rollout.number === number && rollout.state === 'COMPLETED',
    )
  }

  #actOf({ id: replica, start, state, ready, version }: RunningSeen): Seen[] {
    if (state === 'STOPPING') return this.stops ? [{ replica, start, state: 'ENDED', endReason: 'STOPPED' }] : []
    const behaviour = this.behaviours.get(version.number) ?? 'ready'
    switch (behaviour) {
      case 'ready':
        return ready ? [] : [{ replica, start, state: 'RUNNING', ready: true }]
      case 'unready':
        return state === 'RUNNING' ? [] : [{ replica, start, state: 'RUNNING', ready: false }]
      case 'exits':
        return [{ replica, start, state: 'ENDED', endReason: 'EXITED' }]
      case 'gives up':
        return [{ replica, start, state: 'ENDED', endReason: 'GAVE_UP' }]
      case 'stays':
        return []
    }
  }
}
