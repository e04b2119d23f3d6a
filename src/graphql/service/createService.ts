import { bounds } from '../../model/bounds.ts'
import type { ProfileRevisionId, ProjectId, QueueId, ServiceId } from '../../model/id.ts'
import { quoted } from '../../model/quoted.ts'
import { mergeContent } from '../../rules/version/content.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { builder } from '../kit/builder.ts'
import { EnvironmentVariableInput, keyDescription } from '../kit/inputFields.ts'
import { findProject, noProject, requireRevision } from '../kit/lookup.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { NameTakenError, NotFoundError, QuotaExceededError } from '../kit/refusalError.ts'
import { storable } from '../kit/storableText.ts'
import { checkCreateService } from './serviceChecks.ts'
import { servicePayload } from './servicePayload.ts'

const CreateServiceInput = builder.inputType('CreateServiceInput', {
  description: 'A service to be.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description: `A DNS-1123 label of at most ${bounds.nameLength} characters, held by no other service of the project.`,
    }),
    project: t.string({
      required: true,
      defaultValue: 'default',
      description: "The project's name; unknown: NotFoundError.",
    }),
    queue: t.string({
      required: true,
      defaultValue: 'default',
      description: "The queue's name; unknown: NotFoundError.",
    }),
    profile: t.string({ required: true, description: "The profile's name; unknown: NotFoundError." }),
    profileRevision: t.int({ description: 'A revision of it; left out: the newest one. Unknown: NotFoundError.' }),
    replicas: t.int({
      description: `Desired replicas, ${bounds.replicas.min} to ${bounds.replicas.max}; left out: as the profile says.`,
    }),
    command: t.stringList({ description: "Instead of the profile's command, within the same bounds." }),
    env: t.field({
      type: [EnvironmentVariableInput],
      required: { list: false, items: true },
      description: "By name over the profile's variables.",
    }),
    idempotencyKey: t.string({ description: keyDescription }),
  }),
})

userMutation({
  name: 'createService',
  description:
    'Makes a service with version 1 and rollout 1. Its replicas are placed when there is room: blockers say what they wait for.',
  input: CreateServiceInput,
  payload: servicePayload('CreateServicePayload', 'The service was created.'),
  errors: [NotFoundError, NameTakenError, QuotaExceededError],
  about: ({ project, name }) => ({ service: `${project}/${name}` }),
  perform: async (input, { app, viewer, remember }) => {
    const { name, replicas, overrides } = checkCreateService(input)
    const { project, queue, revision } = await foundFor(input, app)
    const profile = revision.content
    const content = mergeContent(profile, overrides)
    const settings = revision.settings
    const result = { serviceId: app.newId() as ServiceId }
    const service = {
      id: result.serviceId,
      projectId: project.id as ProjectId,
      projectName: project.name,
      queueId: queue.id as QueueId,
      name,
      owner: viewer.subject,
      profileRevisionId: revision.id as ProfileRevisionId,
      content,
      overrides,
      template: { command: profile.command, env: profile.env, settings },
      settings,
      replicas: replicas ?? settings.replicas,
    }
    return resultOrThrow(await app.committer.create(service, viewer.subject, remember(result)), result)
  },
})

interface References {
  readonly project: string
  readonly queue: string
  readonly profile: string
  readonly profileRevision?: number | null | undefined
}

/** What the input names. Throws NotFoundError for the first that does not exist. */
async function foundFor(
  { project: projectName, queue: queueName, profile: profileName, profileRevision }: References,
  { database }: ServerContext,
) {
  const { prisma } = database
  const [project, queue, profile] = await Promise.all([
    findProject(prisma, projectName),
    storable(queueName) ? prisma.queue.findUnique({ where: { name: queueName } }) : null,
    storable(profileName) ? prisma.profile.findUnique({ where: { name: profileName } }) : null,
  ])
  if (project === null) throw noProject(projectName, ['input', 'project'])
  if (queue === null)
    throw new NotFoundError(`There is no queue ${quoted(queueName)}: make it with applyQueue.`, ['input', 'queue'])
  if (profile === null)
    throw new NotFoundError(`There is no profile ${quoted(profileName)}: make it with applyProfile.`, [
      'input',
      'profile',
    ])
  const revision = await requireRevision(prisma, profile, profileRevision ?? profile.currentRevision)
  return { project, queue, revision }
}
