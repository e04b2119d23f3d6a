import type { Revision } from '../../model/id.ts'
import type { InputIssue as Issue } from '../../model/refusal.ts'
import { builder } from './builder.ts'
import { enumOf } from './enumOf.ts'
import {
  type ErrorCode as Code,
  ConflictError,
  FencedError,
  ForbiddenError,
  IdempotencyMismatchError,
  InvalidInputError,
  InvalidStateError,
  NameTakenError,
  NoChangeError,
  NotFoundError,
  OvertakenError,
  QuotaExceededError,
} from './refusalError.ts'

const ErrorCode = enumOf<Code>('ErrorCode', 'What kind of failure it is, for programs.', {
  NOT_FOUND: 'Something the input names does not exist.',
  INVALID_INPUT: 'A value of the input is out of its bounds: issues says which.',
  NAME_TAKEN: 'The name is held by another service of the project.',
  QUOTA_EXCEEDED: 'So many replicas could never fit into the project.',
  CONFLICT: 'Somebody else changed it since the revision that was expected.',
  NO_CHANGE: 'There is nothing to do.',
  FORBIDDEN: 'The token does not allow it.',
  INVALID_STATE: 'It is in a state that does not allow it.',
  IDEMPOTENCY_MISMATCH: 'The idempotencyKey was used with another input.',
  FENCED: 'The epoch is old: stop every replica and register anew.',
  OVERTAKEN: 'A later registration of the same state directory was taken already.',
})

const message = 'A sentence: what happened, to what, and what to do next.'

const ErrorInterface = builder.interfaceRef<{ readonly code: Code; readonly message: string }>('Error').implement({
  description: 'A failure that can be expected, as data.',
  fields: (t) => ({
    code: t.field({ type: ErrorCode, description: 'What kind of failure it is.', resolve: (error) => error.code }),
    message: t.exposeString('message', { description: message }),
  }),
})

const InputIssue = builder.objectRef<Issue>('InputIssue').implement({
  description: 'What is wrong with one field of an input.',
  fields: (t) => ({
    path: t.stringList({
      description: 'The way to the field from the arguments on, for example ["input", "ports", "0", "name"].',
      resolve: (issue) => issue.path,
    }),
    message: t.exposeString('message', { description: 'A sentence with the value and the bound.' }),
  }),
})

type AtPath = Error & { readonly inputPath: readonly string[] }

const atPath = [
  [NotFoundError, 'NotFoundError', 'Something the input names does not exist.'],
  [
    NameTakenError,
    'NameTakenError',
    'Another service of the project holds the name: until its last replica has ended.',
  ],
  [NoChangeError, 'NoChangeError', 'There is nothing to do.'],
  [InvalidStateError, 'InvalidStateError', 'It is in a state that does not allow it.'],
] as const

for (const [type, name, description] of atPath) {
  builder.objectType(type, {
    name,
    description,
    interfaces: [ErrorInterface],
    fields: (t) => ({
      path: t.stringList({
        nullable: true,
        description: 'The way to the field of the input that it is about.',
        resolve: (error: AtPath) => error.inputPath,
      }),
    }),
  })
}

builder.objectType(ConflictError, {
  name: 'ConflictError',
  description:
    'Somebody else changed the service since the revision that was expected. Read it again, and decide again.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    path: t.stringList({
      nullable: true,
      description: 'The way to expectedRevision.',
      resolve: (error) => error.inputPath,
    }),
    specRevision: t.field({
      type: 'Revision',
      description: "The service's specRevision now.",
      resolve: (error): Revision => error.specRevision,
    }),
  }),
})

builder.objectType(InvalidInputError, {
  name: 'InvalidInputError',
  description: 'Values of the input are out of their bounds. Nothing was changed.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    issues: t.field({
      type: [InputIssue],
      description: 'Everything that is wrong, at once.',
      resolve: (error) => error.issues,
    }),
  }),
})

builder.objectType(QuotaExceededError, {
  name: 'QuotaExceededError',
  description: 'So many replicas could never fit into the project, even if it had no others.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    limit: t.exposeInt('limit', { description: "The project's maxReplicas." }),
    requested: t.exposeInt('requested', { description: 'The replicas that were asked for.' }),
  }),
})

builder.objectType(ForbiddenError, {
  name: 'ForbiddenError',
  description: 'The token does not allow it.',
  interfaces: [ErrorInterface],
})
builder.objectType(IdempotencyMismatchError, {
  name: 'IdempotencyMismatchError',
  description: 'The idempotencyKey was used with another input within 24 hours. Use a new key for a new wish.',
  interfaces: [ErrorInterface],
})
builder.objectType(FencedError, {
  name: 'FencedError',
  description: 'The epoch is old: stop every replica and register anew.',
  interfaces: [ErrorInterface],
})

builder.objectType(OvertakenError, {
  name: 'OvertakenError',
  description:
    'A later registration of the same state directory was taken already. Where the state directory is an old copy: register with a number above the newest.',
  interfaces: [ErrorInterface],
  fields: (t) => ({
    newest: t.exposeInt('newest', { description: 'The registrationNumber of the newest registration.' }),
  }),
})
