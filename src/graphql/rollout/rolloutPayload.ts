import type { RolloutId, ServiceId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import { rowType } from '../kit/rowType.ts'

export interface RolloutResult {
  readonly serviceId: ServiceId
  /** The rollout that the mutation began; null when it began none and the current one is shown. */
  readonly rolloutId: RolloutId | null
}

/** The payload of a mutation that answers with a service and a rollout of it, both read after the change. */
export function rolloutPayload(name: string, description: string, rollout: string) {
  return builder.objectRef<RolloutResult>(name).implement({
    description,
    fields: (t) => ({
      service: t.field({
        type: rowType('Service'),
        description: 'The service, read after the change.',
        resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
      }),
      rollout: t.field({
        type: rowType('Rollout'),
        description: rollout,
        resolve: async ({ serviceId, rolloutId }, _args, { rows }) => {
          const begun = await rows.load('Rollout', rolloutId)
          if (begun !== null) return begun
          const { rolloutNumber } = await rows.require('Service', serviceId)
          return rows.requireNumbered('Rollout', serviceId, rolloutNumber)
        },
      }),
    }),
  })
}
