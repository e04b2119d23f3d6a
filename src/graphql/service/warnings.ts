import { settingsWarnings } from '../../rules/service/settingsWarnings.ts'
import { warningsDescription } from '../content/settings.ts'
import { builder } from '../kit/builder.ts'
import type { rolloutPayload } from '../rollout/rolloutPayload.ts'
import type { servicePayload } from './servicePayload.ts'

type Payload = ReturnType<typeof servicePayload> | ReturnType<typeof rolloutPayload>

/** Adds to the payload of a mutation what the service's settings in force can't do. */
export function withWarnings<Of extends Payload>(payload: Of): Of {
  builder.objectField<Payload>(payload, 'warnings', (t) =>
    t.stringList({
      description: warningsDescription,
      resolve: async ({ serviceId }, _args, { app: { database } }) => {
        const { settings, versionNumber: number } = await database.prisma.service.findUniqueOrThrow({
          where: { id: serviceId },
          select: { settings: true, versionNumber: true },
        })
        const { content } = await database.prisma.serviceVersion.findUniqueOrThrow({
          where: { serviceId_number: { serviceId, number } },
          select: { content: true },
        })
        return settingsWarnings(settings, content)
      },
    }),
  )
  return payload
}
