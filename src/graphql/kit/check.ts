import type { InputFieldMap, InputShapeFromFields, InputShapeFromTypeParam, InputType, SchemaTypes } from '@pothos/core'
import { type GraphQLInputType, type GraphQLResolveInfo, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { type InputIssue, invalidInput } from '../../model/refusal.ts'
import { errorOf } from './refusalError.ts'

// A field of an input says in one place what it is: its type, its description, and its `check`. Pothos' own validation
// plugin does not fit: it looks at the arguments before anybody is asked for a token, and stops at the first faults.

/** What is wrong with a value: a sentence with the value and the bound. */
export interface Fault {
  /** The path from the checked value to the faulty one; the checked value itself when left out. */
  readonly path?: readonly (string | number)[]
  readonly message: string
  /** What is allowed, in words, where it is a bound that was passed. */
  readonly bound?: string
}

/**
 * Judges a value whose type GraphQL has checked before. Null is never judged, because the type says whether it is
 * allowed.
 */
export type Check<Value> = (value: Value) => readonly Fault[]

declare global {
  namespace PothosSchemaTypes {
    interface InputFieldOptions<
      Types extends SchemaTypes = SchemaTypes,
      Type extends InputType<Types> | [InputType<Types>] = InputType<Types> | [InputType<Types>],
    > {
      readonly check?: Check<NonNullable<InputShapeFromTypeParam<Types, Type, true>>>
    }
    interface InputObjectTypeOptions<
      Types extends SchemaTypes = SchemaTypes,
      Fields extends InputFieldMap = InputFieldMap,
    > {
      /** Judges combinations of fields. */
      readonly check?: Check<InputShapeFromFields<Fields>>
    }
  }
}

/** Throws InvalidInputError with everything that is wrong with the arguments of a field. */
export function checkArguments(info: GraphQLResolveInfo, args: object): void {
  const issues = argumentIssues(info, args)
  if (issues.length > 0) throw errorOf(invalidInput(issues))
}

/** Returns everything that is wrong with the arguments of a field, by the checks that were declared with them. */
export function argumentIssues({ parentType, fieldName }: GraphQLResolveInfo, args: object): InputIssue[] {
  return issuesOf(parentType.getFields()[fieldName]?.args ?? [], args, [])
}

/** An argument, a field of an input, or an input, as Pothos builds them. */
interface Declared {
  readonly extensions: { readonly pothosOptions?: { readonly check?: Check<unknown> } }
}

interface DeclaredField extends Declared {
  readonly name: string
  readonly type: GraphQLInputType
}

function issuesOf(fields: readonly DeclaredField[], values: object, path: readonly string[]): InputIssue[] {
  return fields.flatMap((field) => {
    const value = (values as Readonly<Record<string, unknown>>)[field.name]
    const at = [...path, field.name]
    return [...inputIssues(field.type, value, at), ...judge(field, value, at)]
  })
}

/** Returns everything that is wrong with a value of an input's type, and with everything in it. */
export function inputIssues(type: GraphQLInputType, value: unknown, path: readonly string[]): InputIssue[] {
  if (isNonNullType(type)) return inputIssues(type.ofType, value, path)
  if (isListType(type)) {
    return (Array.isArray(value) ? value : []).flatMap((item, at) =>
      inputIssues(type.ofType, item, [...path, String(at)]),
    )
  }
  if (!isInputObjectType(type) || typeof value !== 'object' || value === null) return []
  return [...issuesOf(Object.values(type.getFields()), value, path), ...judge(type, value, path)]
}

function judge({ extensions }: Declared, value: unknown, path: readonly string[]): InputIssue[] {
  if (value === null || value === undefined) return []
  const faults = extensions.pothosOptions?.check?.(value) ?? []
  return faults.map(({ path: below = [], ...fault }) => ({ ...fault, path: [...path, ...below.map(String)] }))
}

/**
 * Takes what is left of an input when its fields were taken, which must be nothing. So a declared field that nobody
 * takes does not compile, instead of being lost without a word.
 */
export function noneLeft(_rest: Readonly<Record<string, never>>): void {}

/**
 * An input with the fields of `Model`, or some of them. An input with a field that the model lacks does not compile.
 */
export type PartOf<Model, Input> = [Exclude<keyof Input, keyof Model>] extends [never] ? Input : never
