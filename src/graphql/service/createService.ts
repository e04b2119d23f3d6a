import { bounds } from '../../model/bounds.ts'
import type { Content, GivenVariable, Overrides } from '../../model/content.ts'
import type { ProfileRevisionId, ProjectId, ServiceId } from '../../model/id.ts'
import { quoted } from '../../model/quoted.ts'
import { invalidInput } from '../../model/refusal.ts'
import { changedOwnSettings } from '../../rules/service/settings.ts'
import { mergeContent, noOverrides } from '../../rules/version/content.ts'
import { changedEnvironment, withKeptSecrets } from '../../rules/version/environment.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { contentFields, contentOf, ownContent } from '../content/contentFields.ts'
import { environmentField, environmentOf, setAndUnsetFaults, unsetField } from '../content/environmentInput.ts'
import { metadataFields, metadataOf } from '../content/metadata.ts'
import { ownSettingsFaults, ServiceSettingsInput, settingsChangeOf } from '../content/settingsInput.ts'
import { noneLeft } from '../kit/check.ts'
import { findProject, noProject, requireQueue, requireRevision } from '../kit/lookup.ts'
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
      ...contentFields(t, () => "The profile's when it is left out."),
      ...metadataFields(t, 'There are none when they are left out.'),
      settings: t.field({
        type: ServiceSettingsInput,
        description:
          "Settings that the service has of its own, in place of its profile's. They last until they are changed.",
        check: ownSettingsFaults,
      }),
    }),
    check: ({ env, unsetEnv }) => setAndUnsetFaults('env', env, unsetEnv),
  },
  payload: withWarnings(servicePayload('CreateServicePayload', 'The service was created.')),
  errors: ['NOT_FOUND', 'NAME_TAKEN', 'QUOTA_EXCEEDED'],
  about: ({ project, name }) => ({ service: `${project}/${name}` }),
  perform: async (input, { app, viewer, by, remember }) => {
    const { name, replicas, command, env, unsetEnv, settings, ...others } = input
    const { metadata, rest: unnoted } = metadataOf(others)
    const { given, rest } = contentOf(unnoted)
    const { project: projectName, queue: queueName, profile: profileName, profileRevision, ...none } = rest
    noneLeft(none)
    const { project, queue, revision } = await foundFor({ projectName, queueName, profileName, profileRevision }, app)
    const profile = revision.content
    const overrides: Overrides = {
      ...noOverrides,
      ...ownContent(given),
      command: command ?? null,
      ...ownEnvironment(profile, environmentOf(env), unsetEnv ?? []),
    }
    const content = mergeContent(profile, overrides)
    const template = { content: profile, settings: revision.settings }
    const ownSettings = changedOwnSettings(template, {}, settingsChangeOf(settings), content.ports)
    const result = { serviceId: app.newId() as ServiceId }
    const service = {
      id: result.serviceId,
      projectId: project.id as ProjectId,
      projectName: project.name,
      queueId: queue.id,
      name,
      owner: viewer.subject,
      why: by.why,
      profileRevisionId: revision.id as ProfileRevisionId,
      content,
      overrides,
      template,
      ownSettings,
      metadata,
      replicas: replicas ?? revision.settings.replicas,
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
  readonly projectName: string
  readonly queueName: string
  readonly profileName: string
  readonly profileRevision?: number | null | undefined
}

/** Finds what the input names. Throws NotFoundError for the first object that does not exist. */
async function foundFor(
  { projectName, queueName, profileName, profileRevision }: References,
  { database }: ServerContext,
) {
  const { prisma } = database
  const [project, queue, profile] = await Promise.all([
    findProject(prisma, projectName),
    requireQueue(prisma, queueName),
    storable(profileName) ? prisma.profile.findFirst({ where: { name: profileName, removedAt: null } }) : null,
  ])
  if (project === null) throw noProject(projectName, ['input', 'project'])
  if (profile === null)
    throw notFound(`There is no profile ${quoted(profileName)}: make it with applyProfile.`, 'profile')
  const revision = await requireRevision(prisma, profile, profileRevision ?? profile.currentRevision)
  return { project, queue, revision }
}

function notFound(message: string, field: string) {
  return errorOf({ code: 'NOT_FOUND', message, path: ['input', field] })
}
