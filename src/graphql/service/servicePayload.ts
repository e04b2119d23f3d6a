import type { ServiceId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'

/** The payload of a mutation that answers with a service, read after the change. */
export function servicePayload(name: string, description: string) {
  return builder.objectRef<{ readonly serviceId: ServiceId }>(name).implement({
    description,
    fields: (t) => ({
      service: t.prismaField({
        type: 'Service',
        description: 'The service, read after the change.',
        resolve: (query, { serviceId: id }, _args, { app }) =>
          app.database.prisma.service.findUniqueOrThrow({ ...query, where: { id } }),
      }),
    }),
  })
}
