import type { ClusterOutcome } from '../../store/commit/outcome.ts'
import { builder } from '../kit/builder.ts'
import { userMutation } from '../kit/mutation.ts'
import { appliedOf } from './appliedOf.ts'
import { checkProfile } from './profileChecks.ts'
import { ApplyProfileInput } from './profileInput.ts'

const ApplyProfilePayload = builder
  .objectRef<Extract<ClusterOutcome, { kind: 'profile' }>>('ApplyProfilePayload')
  .implement({
    description: 'The profile was applied.',
    fields: (t) => ({
      profile: t.prismaField({
        type: 'ProfileRevision',
        description: 'The newest revision.',
        resolve: (query, { profileRevisionId: id }, _args, { app }) =>
          app.database.prisma.profileRevision.findUniqueOrThrow({ ...query, where: { id } }),
      }),
      created: t.exposeBoolean('created', {
        description: 'Whether this made a new revision; false: the newest one said the same already.',
      }),
    }),
  })

userMutation({
  name: 'applyProfile',
  description:
    'Makes a profile, or the next revision of it. Services keep the revision they have until they are updated. The same content and settings again make no new revision.',
  input: ApplyProfileInput,
  payload: ApplyProfilePayload,
  errors: [],
  about: (input) => ({ profile: input.name }),
  perform: async (input, { app, viewer, remember }) => {
    const profile = checkProfile(input)
    return appliedOf(
      'profile',
      await app.committer.write({ kind: 'applyProfile', ...profile, actor: viewer.subject }, remember(null)),
    )
  },
})
