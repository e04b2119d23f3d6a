import type { FieldChange as FieldChangeValue } from '../../rules/version/fieldChanges.ts'
import { builder } from '../kit/builder.ts'

export const FieldChange = builder.objectRef<FieldChangeValue>('FieldChange').implement({
  description: 'A field that two revisions of a profile have differently.',
  fields: (t) => ({
    field: t.exposeString('field', {
      description: 'Its path as it is written, for example command, env.PORT or readiness.http.path.',
    }),
    before: t.exposeString('before', {
      nullable: true,
      description:
        'Its value in the earlier revision as a text of at most 200 characters, "(secret)" for a secret; null when it is not there.',
    }),
    after: t.exposeString('after', {
      nullable: true,
      description: 'Its value in the later revision, in the same form; null when it is not there any more.',
    }),
  }),
})
