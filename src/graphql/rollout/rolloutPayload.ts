import type { RolloutId, ServiceId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'

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
      service: t.prismaField({
        type: 'Service',
        description: 'The service, read after the change.',
        resolve: (query, { serviceId: id }, _args, { app }) =>
          app.database.prisma.service.findUniqueOrThrow({ ...query, where: { id } }),
      }),
      rollout: t.prismaField({
        type: 'Rollout',
        description: rollout,
        resolve: async (query, { serviceId, rolloutId }, _args, { app: { database } }) => {
          const { prisma } = database
          const begun =
            rolloutId === null ? null : await prisma.rollout.findUnique({ ...query, where: { id: rolloutId } })
          if (begun !== null) return begun
          const { rolloutNumber: number } = await prisma.service.findUniqueOrThrow({
            where: { id: serviceId },
            select: { rolloutNumber: true },
          })
          return prisma.rollout.findUniqueOrThrow({ ...query, where: { serviceId_number: { serviceId, number } } })
        },
      }),
    }),
  })
}
