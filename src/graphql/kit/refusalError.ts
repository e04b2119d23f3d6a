import { GraphQLError } from 'graphql'
import type { Revision } from '../../model/id.ts'
import type { InputIssue, Refusal } from '../../model/refusal.ts'

// One class per error type of the API: the errors plugin tells union members apart by class. They extend GraphQLError so that one which no
// union takes is still a readable top-level error.

export type ErrorCode = Refusal['code']

export abstract class RefusalError extends GraphQLError {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message, { extensions: { code } })
    this.code = code
  }
}

abstract class RefusalAtPath extends RefusalError {
  /** Not `path`: that is GraphQLError's own, of the response. */
  readonly inputPath: readonly string[]

  constructor(code: ErrorCode, message: string, inputPath: readonly string[]) {
    super(code, message)
    this.inputPath = inputPath
  }
}

export class NotFoundError extends RefusalAtPath {
  constructor(message: string, path: readonly string[]) {
    super('NOT_FOUND', message, path)
  }
}

export class NameTakenError extends RefusalAtPath {
  constructor(message: string, path: readonly string[]) {
    super('NAME_TAKEN', message, path)
  }
}

export class NoChangeError extends RefusalAtPath {
  constructor(message: string, path: readonly string[]) {
    super('NO_CHANGE', message, path)
  }
}

export class InvalidStateError extends RefusalAtPath {
  constructor(message: string, path: readonly string[]) {
    super('INVALID_STATE', message, path)
  }
}

export class ConflictError extends RefusalAtPath {
  readonly specRevision: Revision

  constructor(message: string, path: readonly string[], specRevision: Revision) {
    super('CONFLICT', message, path)
    this.specRevision = specRevision
  }
}

export class InvalidInputError extends RefusalError {
  readonly issues: readonly InputIssue[]

  constructor(message: string, issues: readonly InputIssue[]) {
    super('INVALID_INPUT', message)
    this.issues = issues
  }
}

export class QuotaExceededError extends RefusalError {
  readonly limit: number
  readonly requested: number

  constructor(message: string, limit: number, requested: number) {
    super('QUOTA_EXCEEDED', message)
    this.limit = limit
    this.requested = requested
  }
}

export class ForbiddenError extends RefusalError {
  constructor(message: string) {
    super('FORBIDDEN', message)
  }
}

export class IdempotencyMismatchError extends RefusalError {
  constructor(message: string) {
    super('IDEMPOTENCY_MISMATCH', message)
  }
}

export class FencedError extends RefusalError {
  constructor(message: string) {
    super('FENCED', message)
  }
}

export class OvertakenError extends RefusalError {
  readonly newest: number

  constructor(message: string, newest: number) {
    super('OVERTAKEN', message)
    this.newest = newest
  }
}

/** A refusal of the rules or the store as the error that the API shows. */
export function errorOf(refusal: Refusal): RefusalError {
  switch (refusal.code) {
    case 'NOT_FOUND':
      return new NotFoundError(refusal.message, refusal.path)
    case 'INVALID_INPUT':
      return new InvalidInputError(refusal.message, refusal.issues)
    case 'NAME_TAKEN':
      return new NameTakenError(refusal.message, refusal.path)
    case 'QUOTA_EXCEEDED':
      return new QuotaExceededError(refusal.message, refusal.limit, refusal.requested)
    case 'CONFLICT':
      return new ConflictError(refusal.message, refusal.path, refusal.specRevision)
    case 'NO_CHANGE':
      return new NoChangeError(refusal.message, refusal.path)
    case 'FORBIDDEN':
      return new ForbiddenError(refusal.message)
    case 'INVALID_STATE':
      return new InvalidStateError(refusal.message, refusal.path)
    case 'IDEMPOTENCY_MISMATCH':
      return new IdempotencyMismatchError(refusal.message)
    case 'FENCED':
      return new FencedError(refusal.message)
    case 'OVERTAKEN':
      return new OvertakenError(refusal.message, refusal.newest)
  }
}
