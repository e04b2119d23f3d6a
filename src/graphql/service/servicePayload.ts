import type { ServiceId } from '../../model/id.ts'
import { builder } from '../kit/builder.ts'
import { rowType } from '../kit/rowType.ts'

/** The payload of a mutation that answers with a service, read after the change. */
export function servicePayload(name: string, description: string) {
  return builder.objectRef<{ readonly serviceId: ServiceId }>(name).implement({
    description,
    fields: (t) => ({
      service: t.field({
        type: rowType('Service'),
        description: 'The service, read after the change.',
        resolve: ({ serviceId }, _args, { rows }) => rows.require('Service', serviceId),
      }),
    }),
  })
}
