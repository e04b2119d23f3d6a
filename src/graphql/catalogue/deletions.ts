import { builder } from '../kit/builder.ts'
import { noneLeft } from '../kit/check.ts'
import { encodeGlobalId } from '../kit/globalId.ts'
import { appliedOf, titleOf, userMutation } from '../kit/mutation.ts'

const deletions = [
  ['deleteProfile', 'ApplicationProfile', 'profile'],
  ['deleteProject', 'Project', 'project'],
  ['deleteQueue', 'Queue', 'queue'],
] as const

for (const [kind, type, what] of deletions) {
  userMutation({
    name: kind,
    description: `Deletes a ${what} that no service uses. What names it in histories can still be read, and applying it again brings it back. InvalidStateError while a service uses it, with the names of the services${kind === 'deleteProfile' ? '' : `, and for the ${what} default`}.`,
    input: {
      description: `The ${what} to delete.`,
      fields: (t) => ({
        name: t.string({
          required: true,
          description: `The ${what}'s name. NotFoundError when it does not exist.`,
        }),
      }),
    },
    payload: builder.objectRef<{ readonly id: string }>(`${titleOf(kind)}Payload`).implement({
      description: `The ${what} is deleted.`,
      fields: (t) => ({
        deletedId: t.id({
          description: `The global id that the ${what} had, for caches.`,
          resolve: ({ id }) => encodeGlobalId(type, id),
        }),
      }),
    }),
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    about: ({ name }) => ({ [what]: name }),
    perform: async ({ name, ...rest }, { app, by, remember }) => {
      noneLeft(rest)
      return appliedOf('removed', await app.committer.write({ kind, name, ...by }, remember(null)))
    },
  })
}
