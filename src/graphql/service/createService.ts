import { bounds } from '../../model/bounds.ts'
import type { Content, GivenVariable } from '../../model/content.ts'
import type { ProfileRevisionId, ProjectId, QueueId, ServiceId } from '../../model/id.ts'
import { quoted } from '../../model/quoted.ts'
import { invalidInput } from '../../model/refusal.ts'
import { mergeContent } from '../../rules/version/content.ts'
import { changedEnvironment, withKeptSecrets } from '../../rules/version/environment.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { environmentField, environmentOf, setAndUnsetFaults, unsetField } from '../content/environmentInput.ts'
import { noneLeft } from '../kit/check.ts'
import { findProject, noProject, requireRevision } from '../kit/lookup.ts'
import { resultOrThrow, userMutation } from '../kit/mutation.ts'
import { errorOf } from '../kit/refusalError.ts'
import { storable } from '../kit/storableText.ts'
import { checkCommand, nameField, whole } from '../kit/values.ts'
import { servicePayload } from './servicePayload.ts'
import { withWarnings } from './warnings.ts'

userMutation({
  name: 'createService',
  description:
    'Makes a service with version 1 and rollout 1. Its replicas are placed when there is room; blockers say what they wait for.',
  input: {
    description: 'The service to create.',
    fields: (t) => ({
      name: t.string({
        ...nameField,
        description: `A DNS-1123 label of at most ${bounds.nameLength} characters, held by no other service of the project.`,
      }),
      project: t.string({
        required: true,
        defaultValue: 'default',
        description: "The project's name. NotFoundError when it does not exist.",
      }),
      queue: t.string({
        required: true,
        defaultValue: 'default',
        description: "The queue's name. NotFoundError when it does not exist.",
      }),
      profile: t.string({ required: true, description: "The profile's name. NotFoundError when it does not exist." }),
      profileRevision: t.int({
        description: 'A revision of the profile; the newest one when left out. NotFoundError when it does not exist.',
      }),
      replicas: t.int(
        whole(
          bounds.replicas,
          'replicas',
          (range) => `Desired replicas, ${range}; the profile's number when left out.`,
        ),
      ),
      command: t.stringList({
        description: "A command that replaces the profile's command, within the same bounds.",
        check: checkCommand,
      }),
      env: t.field({
        ...environmentField,
        description:
          "Variables that replace the profile's variables of the same name, or are added to them. A secret without a value keeps the profile's.",
      }),
      unsetEnv: t.stringList({
        ...unsetField,
        description: "Names of the profile's variables that replicas of the service do not get.",
      }),
    }),
    check: ({ env, unsetEnv }) => setAndUnsetFaults('env', env, unsetEnv),
  },
  payload: withWarnings(servicePayload('CreateServicePayload', 'The service was created.')),
  errors: ['NOT_FOUND', 'NAME_TAKEN', 'QUOTA_EXCEEDED'],
  about: ({ project, name }) => ({ service: `${project}/${name}` }),
  perform: async (input, { app, viewer, remember }) => {
    const { name, replicas, command = null, env, unsetEnv, ...references } = input
    const { project, queue, revision } = await foundFor(references, app)
    const profile = revision.content
    const overrides = { command, ...ownEnvironment(profile, environmentOf(env), unsetEnv ?? []) }
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
    return resultOrThrow(
      await app.committer.create(service, viewer.subject, remember(result), await app.outlook.room()),
      result,
    )
  },
})

/** A revision never changes, so a secret of it can be kept before the commit. */
function ownEnvironment(profile: Content, given: readonly GivenVariable[], unsetEnv: readonly string[]) {
  const { variables, issues } = withKeptSecrets(given, profile.env)
  if (issues.length > 0) {
    throw errorOf(invalidInput(issues.map(({ path, message }) => ({ path: ['input', 'env', ...path], message }))))
  }
  return changedEnvironment({ env: [], unsetEnv: [] }, profile.env, { env: variables, unsetEnv })
}

interface References {
  readonly project: string
  readonly queue: string
  readonly profile: string
  readonly profileRevision?: number | null | undefined
}

/** Finds what the input names. Throws NotFoundError for the first object that does not exist. */
async function foundFor(
  { project: projectName, queue: queueName, profile: profileName, profileRevision, ...rest }: References,
  { database }: ServerContext,
) {
  noneLeft(rest)
  const { prisma } = database
  const [project, queue, profile] = await Promise.all([
    findProject(prisma, projectName),
    storable(queueName) ? prisma.queue.findUnique({ where: { name: queueName } }) : null,
    storable(profileName) ? prisma.profile.findUnique({ where: { name: profileName } }) : null,
  ])
  if (project === null) throw noProject(projectName, ['input', 'project'])
  if (queue === null) throw notFound(`There is no queue ${quoted(queueName)}: make it with applyQueue.`, 'queue')
  if (profile === null)
    throw notFound(`There is no profile ${quoted(profileName)}: make it with applyProfile.`, 'profile')
  const revision = await requireRevision(prisma, profile, profileRevision ?? profile.currentRevision)
  return { project, queue, revision }
}

function notFound(message: string, field: string) {
  return errorOf({ code: 'NOT_FOUND', message, path: ['input', field] })
}
