import type { FieldMap } from '@pothos/core'
import type { InputIssue as Issue, RefusalCode, RefusalOf } from '../../model/refusal.ts'
import { type ApiTypes, builder } from './builder.ts'
import { enumOf } from './enumOf.ts'
import { errorCodes, refusalCodes } from './errorCodes.ts'
import { errorClasses, type RefusalError } from './refusalError.ts'

// The types of the errors that are members of results. Each is made from its line in errorCodes and its own fields
// here.

const ErrorCode = enumOf<RefusalCode>(
  'ErrorCode',
  'The kinds of failures, for programs.',
  Object.fromEntries(refusalCodes.map((code) => [code, errorCodes[code].meaning])) as Record<RefusalCode, string>,
)

const ErrorInterface = builder.interfaceRef<RefusalError>('Error').implement({
  description: 'A failure that clients should expect. It is returned as data.',
  fields: (t) => ({
    code: t.field({
      type: ErrorCode,
      description: 'The kind of failure.',
      resolve: ({ refusal }) => refusal.code,
    }),
    message: t.exposeString('message', {
      description: 'A sentence: what happened, to what, and what to do next.',
    }),
  }),
})

const InputIssue = builder.objectRef<Issue>('InputIssue').implement({
  description: 'What is wrong with one field of an input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'The path of the field in the arguments, for example ["input", "ports", "0", "name"].',
      resolve: (issue) => issue.path,
    }),
    message: t.exposeString('message', { description: 'A sentence with the value and the bound.' }),
    value: t.string({
      nullable: true,
      description:
        'The refused value as a text of at most 200 characters, JSON where it is no text; null when nothing was given, and for variables, which may be secrets.',
      resolve: (issue) => issue.value ?? null,
    }),
    bound: t.string({
      nullable: true,
      description: 'What is allowed, in words, such as "0 to 50000"; null when no bound was passed.',
      resolve: (issue) => issue.bound ?? null,
    }),
  }),
})

type FieldsFrom<Parent> = (
  t: PothosSchemaTypes.ObjectFieldBuilder<PothosSchemaTypes.ExtendDefaultTypes<ApiTypes>, Parent>,
) => FieldMap
type FieldsOf<Code extends RefusalCode> = FieldsFrom<RefusalError<RefusalOf<Code>>>

type AtPath = 'NOT_FOUND' | 'NAME_TAKEN' | 'NO_CHANGE' | 'INVALID_STATE' | 'CONFLICT'

const pathOf =
  (description: string): FieldsOf<AtPath> =>
  (t) => ({
    path: t.stringList({ nullable: true, description, resolve: ({ refusal }) => refusal.path }),
  })
const path = pathOf('The path of the field in the arguments that it is about.')
const none = () => ({})

const ownFields: { readonly [Code in RefusalCode]: FieldsOf<Code> } = {
  NOT_FOUND: path,
  INVALID_INPUT: (t) => ({
    issues: t.field({
      type: [InputIssue],
      description: 'Everything that is wrong, at once.',
      resolve: ({ refusal }) => refusal.issues,
    }),
  }),
  NAME_TAKEN: path,
  QUOTA_EXCEEDED: (t) => ({
    limit: t.int({ description: "The project's maxReplicas.", resolve: ({ refusal }) => refusal.limit }),
    requested: t.int({
      description: 'The replicas that were asked for.',
      resolve: ({ refusal }) => refusal.requested,
    }),
  }),
  CONFLICT: (t) => ({
    ...pathOf('The path of expectedRevision in the arguments.')(t),
    specRevision: t.field({
      type: 'Revision',
      description: "The service's specRevision now.",
      resolve: ({ refusal }) => refusal.specRevision,
    }),
  }),
  NO_CHANGE: path,
  FORBIDDEN: none,
  INVALID_STATE: path,
  IDEMPOTENCY_MISMATCH: none,
  FENCED: none,
  OVERTAKEN: (t) => ({
    newest: t.int({
      description: 'The registrationNumber of the newest registration.',
      resolve: ({ refusal }) => refusal.newest,
    }),
  }),
}

for (const code of refusalCodes) {
  const { type: name, meaning, remedy } = errorCodes[code]
  builder.objectType(errorClasses[code], {
    name,
    description: `${meaning} ${remedy}`,
    interfaces: [ErrorInterface],
    fields: ownFields[code] as unknown as FieldsFrom<RefusalError>,
  })
}
