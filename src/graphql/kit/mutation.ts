import { createHash } from 'node:crypto'
import type { InputRef, ObjectRef } from '@pothos/core'
import { canonicalJson } from '../../model/canonicalJson.ts'
import { type KeyUse, lookUpKey } from '../../store/commit/keys.ts'
import type { Json, Remember, StoreOutcome } from '../../store/commit/outcome.ts'
import { notDone } from '../../store/database/databaseErrors.ts'
import type { ServerContext } from '../../systems/serverContext.ts'
import { type ApiTypes, builder } from './builder.ts'
import { check } from './check.ts'
import type { GraphQLContext, Viewer } from './context.ts'
import { keyed } from './key.ts'
import { errorOf, ForbiddenError, IdempotencyMismatchError, InvalidInputError, RefusalError } from './refusalError.ts'
import { unauthenticated } from './requestErrors.ts'

/** One call of a user's mutation. */
export interface Call {
  readonly app: ServerContext
  readonly viewer: Viewer
  /** What the store keeps under the caller's idempotencyKey, in the same commit; undefined when none was given. */
  remember(result: Json): Remember | undefined
}

interface MutationOptions<Input, Result extends object> {
  readonly name: string
  readonly description: string
  readonly input: InputRef<Input>
  /** Shows the result: ids, from which the objects are read anew, so that a repeated call shows them as they are now (R17). */
  readonly payload: ObjectRef<PothosSchemaTypes.ExtendDefaultTypes<ApiTypes>, Result>
  /** Beside InvalidInputError, ForbiddenError and IdempotencyMismatchError, which every mutation can answer. */
  readonly errors: readonly (new (
    ...parts: never[]
  ) => RefusalError)[]
  /** For the log: what it is about. */
  readonly about: (input: Input) => Readonly<Record<string, string>>
  /** Throws what it refuses. */
  readonly perform: (input: Input, call: Call) => Promise<Result>
}

/**
 * Adds a user's mutation: an input, a result union, the idempotencyKey (R17) and one log line. `perform` says what is its own.
 */
export function userMutation<Input extends object, Result extends object>(
  options: MutationOptions<Input, Result>,
): void {
  const { name, description, input, payload, errors } = options
  const resolve = (_root: unknown, args: { readonly input: Input }, context: GraphQLContext) =>
    logged(options, args.input, context)
  builder.mutationField(name, (t) =>
    t.field({
      type: payload,
      description,
      args: { input: t.arg({ type: input, required: true, description: 'What is asked for.' }) },
      errors: {
        types: [...errors, InvalidInputError, ForbiddenError, IdempotencyMismatchError],
        union: {
          name: `${name.charAt(0).toUpperCase()}${name.slice(1)}Result`,
          description: `What became of ${name}: its payload, or why it was not done.`,
        },
      },
      // Pothos derives the arguments' type from the input's, which is open here.
      resolve: resolve as never,
    }),
  )
}

async function logged<Input extends object, Result extends object>(
  { name: operation, about, perform }: MutationOptions<Input, Result>,
  input: Input,
  { app, viewer }: GraphQLContext,
): Promise<Result> {
  if (viewer === null) throw unauthenticated()
  const begun = performance.now()
  let outcome = 'FAILED'
  try {
    const result = await idempotent(operation, input, { app, viewer }, perform)
    outcome = 'DONE'
    return result
  } catch (error) {
    if (error instanceof RefusalError) outcome = error.code
    // Nothing that follows a commit in `perform` throws, and the committer says itself what it does not know.
    throw notDone(error)
  } finally {
    const milliseconds = Math.round(performance.now() - begun)
    app.log.info(
      { operation, subject: viewer.subject, ...about(input), outcome, milliseconds },
      `${operation}: ${outcome}`,
    )
  }
}

/** What was done before under the same key is answered from what was kept; the store keeps it, and judges two such calls at once. */
async function idempotent<Input extends object, Result extends object>(
  operation: string,
  input: Input,
  { app, viewer }: { readonly app: ServerContext; readonly viewer: Viewer },
  perform: (input: Input, call: Call) => Promise<Result>,
): Promise<Result> {
  const { idempotencyKey: key } = check(keyed, input)
  const { subject } = viewer
  if (typeof key !== 'string') return perform(input, { app, viewer, remember: () => undefined })
  const use: KeyUse = { subject, operation, key, inputHash: hashOf(input) }
  const before = await keptResult<Result>(app, use)
  if (before !== null) return before
  try {
    return await perform(input, { app, viewer, remember: (result) => ({ ...use, result }) })
  } catch (error) {
    // What it was refused for may be the very thing that another server did under this key, after the look above.
    const meanwhile = error instanceof RefusalError ? await keptResult<Result>(app, use) : null
    if (meanwhile === null) throw error
    return meanwhile
  }
}

/** The result that was kept; null: there is none. Throws IdempotencyMismatchError where it is another input's. */
async function keptResult<Result extends object>({ database }: ServerContext, use: KeyUse): Promise<Result | null> {
  const known = await lookUpKey(database, use)
  if (known?.kind === 'refused') throw errorOf(known.refusal)
  return known === null ? null : (known.result as unknown as Result)
}

/** What the store answers for a service, as the mutation's result. Throws what was refused. */
export function resultOrThrow<Result extends object>(outcome: StoreOutcome, result: Result): Result {
  if (outcome.kind === 'refused') throw errorOf(outcome.refusal)
  return outcome.kind === 'remembered' ? (outcome.result as unknown as Result) : result
}

function hashOf(input: object): string {
  const { idempotencyKey: _, ...rest } = input as Readonly<Record<string, unknown>>
  return createHash('sha256').update(canonicalJson(rest)).digest('hex')
}
