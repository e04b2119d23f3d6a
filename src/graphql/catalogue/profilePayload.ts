import { settingsWarnings } from '../../rules/service/settingsWarnings.ts'
import { fieldChanges } from '../../rules/version/fieldChanges.ts'
import type { ClusterOutcome } from '../../store/commit/outcome.ts'
import { warningsDescription } from '../content/settings.ts'
import { builder } from '../kit/builder.ts'
import { rowType } from '../kit/rowType.ts'
import { FieldChange } from './fieldChange.ts'

export type ProfileApplied = Extract<ClusterOutcome, { kind: 'profile' }>

/** Makes the payload of a mutation that gives a profile a revision. The services that use it are added by their own room. */
export function profilePayload(name: string, description: string) {
  return builder.objectRef<ProfileApplied>(name).implement({
    description,
    fields: (t) => ({
      profile: t.field({
        type: rowType('Profile'),
        description: 'The profile.',
        resolve: ({ profileId }, _args, { rows }) => rows.require('Profile', profileId),
      }),
      profileRevision: t.field({
        type: rowType('ProfileRevision'),
        description: 'Its newest revision.',
        resolve: ({ profileRevisionId }, _args, { rows }) => rows.require('ProfileRevision', profileRevisionId),
      }),
      created: t.exposeBoolean('created', {
        description:
          'Whether this made a new revision. False when the newest revision had the same content and settings already.',
      }),
      changes: t.field({
        type: [FieldChange],
        description:
          'What the new revision has differently from the one before; empty when this made none, or the first one.',
        resolve: async ({ created, profileRevisionId }, _args, { rows }) => {
          const made = await rows.require('ProfileRevision', profileRevisionId)
          if (!created || made.revision === 1) return []
          return fieldChanges(await rows.requireNumbered('ProfileRevision', made.profileId, made.revision - 1), made)
        },
      }),
      warnings: t.stringList({
        description: warningsDescription,
        resolve: async ({ profileRevisionId }, _args, { rows }) => {
          const { settings, content } = await rows.require('ProfileRevision', profileRevisionId)
          return settingsWarnings(settings, content)
        },
      }),
    }),
  })
}
