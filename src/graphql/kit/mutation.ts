import { createHash } from 'node:crypto'
import type { InputFieldMap, InputObjectRef, InputShapeFromFields, ObjectRef } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import { bounds } from '../../model/bounds.ts'
import { canonicalJson } from '../../model/canonicalJson.ts'
import type { RefusalCode } from '../../model/refusal.ts'
import { idempotencyKeyHours } from '../../model/retention.ts'
import { type KeyUse, lookUpKey } from '../../store/commit/keys.ts'
import type { ClusterOutcome, Json, Remember, StoreOutcome } from '../../store/commit/outcome.ts'
import { notDone } from '../../store/database/databaseErrors.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { type ApiTypes, builder } from './builder.ts'
import { type Check, checkArguments, type Fault } from './check.ts'
import type { GraphQLContext, Viewer } from './context.ts'
import { errorOf, errorTypes, RefusalError } from './refusalError.ts'
import { withValues } from './refusedValue.ts'
import { unauthenticated } from './requestErrors.ts'
import { textFaults } from './values.ts'

/** One call of a user's mutation. */
export interface Call {
  readonly app: ServerContext
  readonly viewer: Viewer
  /** Who makes the change, and why in their words. */
  readonly by: { readonly actor: string; readonly why: string | null }
  /** What the store keeps under the caller's idempotencyKey, in the same commit; undefined when no key was given. */
  remember(result: Json): Remember | undefined
}

type Types = PothosSchemaTypes.ExtendDefaultTypes<ApiTypes>

/** Declares the fields of an input. */
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>

interface MutationOptions<Fields extends InputFieldMap, Result extends object> {
  readonly name: string
  readonly description: string
  /** The fields of the input. Each input has the idempotencyKey and the cause as well. */
  readonly input: {
    readonly description: string
    readonly fields: (t: InputFields) => Fields
    /** Judges combinations of fields. */
    readonly check?: Check<InputShapeFromFields<Fields>>
  }
  /** Shows the result. It has ids, from which the objects are read again, so a repeated call shows them as they are now (R17). */
  readonly payload: ObjectRef<Types, Result>
  /**
   * The errors that it can answer besides INVALID_INPUT, FORBIDDEN and IDEMPOTENCY_MISMATCH, which every mutation can
   * answer.
   */
  readonly errors: readonly RefusalCode[]
  /** Names for the log what the mutation is about. */
  readonly about: (input: InputShapeFromFields<Fields>) => Readonly<Record<string, string>>
  /** Does the mutation. Throws what it refuses. */
  readonly perform: (input: InputShapeFromFields<Fields>, call: Call) => Promise<Result>
}

const idempotencyKey = {
  description: `Any text of 1 to ${bounds.idempotencyKeyLength} characters that you make up for one wish. For ${idempotencyKeyHours} hours the same key and input return the same objects, read now; another input is an IdempotencyMismatchError.`,
  check: (key: string): readonly Fault[] =>
    key.length < 1 || key.length > bounds.idempotencyKeyLength
      ? [
          {
            message: `The key has ${key.length} characters: give 1 to ${bounds.idempotencyKeyLength}.`,
            bound: `1 to ${bounds.idempotencyKeyLength} characters`,
          },
        ]
      : textFaults('The key', key),
}

const cause = {
  description: `Why you make the change, for whoever reads the version and the events later; at most ${bounds.causeLength} characters.`,
  check: (text: string): readonly Fault[] =>
    text.length > bounds.causeLength
      ? [
          {
            message: `The cause has ${text.length} characters: at most ${bounds.causeLength} are allowed.`,
            bound: `at most ${bounds.causeLength} characters`,
          },
        ]
      : textFaults('The cause', text),
}

/**
 * Adds a user's mutation: an input, a result union, the idempotencyKey (R17) and one log line. `perform` has what is
 * special to it. Returns the input.
 */
export function userMutation<Fields extends InputFieldMap, Result extends object>(
  options: MutationOptions<Fields, Result>,
): InputObjectRef<Types, InputShapeFromFields<Fields>> {
  const { name, description, payload, errors } = options
  const { fields, ...inputOptions } = options.input
  const title = titleOf(name)
  // Pothos derives the types of inputs and arguments from their fields, which are not known here.
  const input = builder.inputType(`${title}Input`, {
    ...inputOptions,
    fields: (t: InputFields) => ({ ...fields(t), idempotencyKey: t.string(idempotencyKey), cause: t.string(cause) }),
  } as never) as unknown as InputObjectRef<Types, InputShapeFromFields<Fields>>
  const resolve = (
    _root: unknown,
    args: { readonly input: Keyed<InputShapeFromFields<Fields>> },
    context: GraphQLContext,
    info: GraphQLResolveInfo,
  ) => logged(options, args, context, info)
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      description,
      args: { input: t.arg({ type: input, required: true, description: 'The input of the mutation.' }) },
      errors: {
        types: errorTypes(...errors, 'INVALID_INPUT', 'FORBIDDEN', 'IDEMPOTENCY_MISMATCH'),
        union: {
          name: `${title}Result`,
          description: `What became of ${name}: its payload, or why it was not done.`,
        },
      },
      resolve: resolve as never,
    }),
  )
  return input
}

/** Returns the name of a mutation in the form in which the names of its types begin. */
export function titleOf(mutation: string): string {
  return `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
}

type Keyed<Input> = Input & {
  readonly idempotencyKey?: string | null | undefined
  readonly cause?: string | null | undefined
}

async function logged<Fields extends InputFieldMap, Result extends object>(
  { name: operation, about, perform }: MutationOptions<Fields, Result>,
  args: { readonly input: Keyed<InputShapeFromFields<Fields>> },
  { app, viewer }: GraphQLContext,
  info: GraphQLResolveInfo,
): Promise<Result> {
  if (viewer === null) throw unauthenticated()
  const begun = performance.now()
  let outcome = 'FAILED'
  try {
    checkArguments(info, args)
    const result = await idempotent(operation, args.input, { app, viewer }, perform)
    outcome = 'DONE'
    return result
  } catch (error) {
    if (error instanceof RefusalError) outcome = error.refusal.code
    // Nothing that follows a commit in `perform` throws, and the committer itself says when it does not know the
    // outcome.
    throw notDone(withValues(error, args))
  } finally {
    const milliseconds = Math.round(performance.now() - begun)
    app.log.info(
      { operation, subject: viewer.subject, ...about(args.input), outcome, milliseconds },
      `${operation}: ${outcome}`,
    )
  }
}

/** A use of the same key is answered from what was kept. The store keeps it, and judges two simultaneous uses. */
async function idempotent<Input extends object, Result extends object>(
  operation: string,
  { idempotencyKey: key, cause, ...rest }: Keyed<Input>,
  { app, viewer }: { readonly app: ServerContext; readonly viewer: Viewer },
  perform: (input: Input, call: Call) => Promise<Result>,
): Promise<Result> {
  const input = rest as unknown as Input
  const { subject } = viewer
  const by = { actor: subject, why: cause ?? null }
  if (typeof key !== 'string') return perform(input, { app, viewer, by, remember: () => undefined })
  const use: KeyUse = { subject, operation, key, inputHash: hashOf({ ...input, cause: cause ?? undefined }) }
  const before = await keptResult<Result>(app, use)
  if (before !== null) return before
  try {
    return await perform(input, { app, viewer, by, remember: (result) => ({ ...use, result }) })
  } catch (error) {
    // The reason for the refusal may be what another server did under this key, after the look above.
    const meanwhile = error instanceof RefusalError ? await keptResult<Result>(app, use) : null
    if (meanwhile === null) throw error
    return meanwhile
  }
}

/**
 * Returns the result that was kept; null when there is none. Throws IdempotencyMismatchError when it was kept for
 * another input.
 */
async function keptResult<Result extends object>({ database }: ServerContext, use: KeyUse): Promise<Result | null> {
  const known = await lookUpKey(database, use)
  if (known?.kind === 'refused') throw errorOf(known.refusal)
  return known === null ? null : (known.result as unknown as Result)
}

/** Returns the store's answer for a service as the mutation's result. Throws what was refused. */
export function resultOrThrow<Result extends object>(outcome: StoreOutcome, result: Result): Result {
  if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
  return outcome.kind === 'remembered' ? (outcome.result as unknown as Result) : result
}

/**
 * Returns the store's answer for a profile, project, queue or host as the mutation's result. Throws what was refused.
 */
export function appliedOf<Kind extends 'profile' | 'project' | 'queue' | 'host' | 'removed'>(
  kind: Kind,
  outcome: ClusterOutcome,
): Extract<ClusterOutcome, { kind: Kind }> {
  if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
  const applied = outcome.kind === 'remembered' ? (outcome.result as unknown as ClusterOutcome) : outcome
  if (applied.kind !== kind) throw new Error(`A ${kind} was applied, but the store answered for a ${applied.kind}.`)
  return applied as Extract<ClusterOutcome, { kind: Kind }>
}

function hashOf(input: object): string {
  return createHash('sha256').update(canonicalJson(input)).digest('hex')
}
