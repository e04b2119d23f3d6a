import type { ProfileRevisionId, Revision, RolloutId, ServiceId } from '../../model/id.ts'
import type { ProfileRevisionView, UpdateIntent } from '../../model/intent.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { requireRevision, requireService } from '../kit/lookup.ts'
import type { ServiceName } from '../kit/serviceKey.ts'
import { checkUpdateService } from './updateChecks.ts'

/** UpdateServiceInput, as far as it is looked up here. */
export interface UpdateRequest {
  readonly service: ServiceName
  readonly profileRevision?: number | null | undefined
  readonly startPaused?: boolean | null | undefined
  readonly expectedRevision?: Revision | null | undefined
}

/** What an update asks of the rules. Throws what is wrong with the input, and NotFoundError for what it names in vain. */
export async function updateIntentOf(
  app: ServerContext,
  input: UpdateRequest,
  actor: string,
  rolloutId: RolloutId,
): Promise<{ readonly serviceId: ServiceId; readonly intent: UpdateIntent }> {
  const checked = checkUpdateService(input)
  const serviceId = await requireService(app, input.service)
  const { prisma } = app.database
  const { profileRevisionId } = await prisma.service.findUniqueOrThrow({
    where: { id: serviceId },
    select: { profileRevisionId: true },
  })
  const profile =
    typeof input.profileRevision === 'number'
      ? await revisionBeside(app, profileRevisionId, input.profileRevision)
      : null
  const { startPaused, expectedRevision } = input
  const intent: UpdateIntent = {
    kind: 'update',
    ...checked,
    profile,
    startPaused: startPaused ?? false,
    rolloutId,
    expectedRevision: expectedRevision ?? null,
    actor,
  }
  return { serviceId, intent }
}

/** Another revision of the profile that a service has: a service never changes its profile. */
async function revisionBeside(
  { database: { prisma } }: ServerContext,
  beside: string,
  revision: number,
): Promise<ProfileRevisionView> {
  const { profile } = await prisma.profileRevision.findUniqueOrThrow({
    where: { id: beside },
    select: { profile: true },
  })
  const found = await requireRevision(prisma, profile, revision)
  return { id: found.id as ProfileRevisionId, content: found.content, settings: found.settings }
}
