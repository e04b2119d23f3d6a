import { Prisma, type Service as ServiceRow } from '../../generated/prisma/client.ts'
import { ApplyProfilePayload } from '../catalogue/applyProfile.ts'
import { UpdateProfilePayload } from '../catalogue/updateProfile.ts'
import { builder } from '../kit/builder.ts'
import { connectionOf } from '../kit/connection/connection.ts'
import type { Listing } from '../kit/connection/listing.ts'
import { filtered } from '../kit/filter.ts'
import { Service, ServiceConnection } from './service.ts'

const listing: Listing = {
  name: 'ApplyProfilePayload.services',
  table: 'Service',
  parent: null,
  order: [
    { column: 'name', type: 'text' },
    { column: 'id', type: 'text' },
  ],
  descending: false,
}

for (const payload of [ApplyProfilePayload, UpdateProfilePayload]) {
  builder.objectField(payload, 'services', (t) =>
    t.connection(
      {
        type: Service,
        description:
          'The services that run a revision of the profile, by name. They keep their revision until they are updated.',
        resolve: ({ profileId }, args, context) => {
          const condition = Prisma.sql`t."deletedAt" IS NULL AND t."profileRevisionId" IN (SELECT r.id FROM "ProfileRevision" r WHERE r."profileId" = ${profileId})`
          return connectionOf<ServiceRow>(context, listing, null, args, filtered({ profileId }, [condition]))
        },
      },
      ServiceConnection,
    ),
  )
}
