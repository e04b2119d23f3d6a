import { setTimeout as wait } from 'node:timers/promises'
import type { Rng } from '../feed/rng.ts'
import type { ApiClient, GraphQLResponse } from '../support/drivers/apiClient.ts'
import { acknowledged, type Tally } from './tally.ts'

/** A mutation, with the fields that are wanted of its payload. */
export interface Ask {
  /** As the summary names it. */
  readonly kind: string
  readonly mutation: string
  readonly input: Record<string, unknown>
  readonly fields: string
}

export interface Answer<Payload> {
  /** Null: it was done. */
  readonly code: string | null
  readonly message: string | null
  readonly payload: Payload
}

const answerWithinMillis = 8_000
const retryMillis = 150
/** Of so many asks one goes to two servers at once. */
const twiceOf = 12

/**
 * Asks any server until one answers: what died, froze or could not reach its database is asked again, or another one, with the same
 * idempotencyKey. So every mutation is either acknowledged once or refused, and nobody knows less than the answer says.
 */
export class Caller {
  readonly #clients: readonly ApiClient[]
  readonly #rng: Rng
  readonly #tally: Tally
  readonly #name: string
  #asked = 0

  constructor(name: string, clients: readonly ApiClient[], rng: Rng, tally: Tally) {
    this.#name = name
    this.#clients = clients
    this.#rng = rng
    this.#tally = tally
  }

  async mutate<Payload>(ask: Ask): Promise<Answer<Payload>> {
    const idempotencyKey = `${this.#name}-${++this.#asked}`
    const send = () => this.#untilAnswered<Payload>({ ...ask, input: { ...ask.input, idempotencyKey } })
    const answers = await Promise.all(this.#rng.below(twiceOf) === 0 ? [send(), send()] : [send()])
    const done = answers.filter(({ code }) => code === null)
    const ids = new Set(done.map(({ payload }) => JSON.stringify(idsIn(payload))))
    if (ids.size > 1)
      this.#tally.fault(`${ask.kind} with one key through two servers was done twice: ${[...ids].join(' and ')}.`)
    const answer = done[0] ?? answers[0]
    if (answer === undefined) throw new Error('An ask has an answer.')
    this.#tally.operation(ask.kind, answer.code ?? acknowledged)
    return answer
  }

  /** Reads from any server that answers. */
  async ask<Data>(query: string, variables: Record<string, unknown> = {}): Promise<Data> {
    for (;;) {
      const response = await this.#send<Data>(query, variables)
      if (response?.data != null && response.errors.length === 0) return response.data
      await wait(retryMillis)
    }
  }

  async #untilAnswered<Payload>({ mutation, input, fields }: Ask): Promise<Answer<Payload>> {
    const name = mutation.charAt(0).toUpperCase() + mutation.slice(1)
    const query = `mutation ($input: ${name}Input!) { result: ${mutation}(input: $input) { ... on ${name}Payload { ${fields} } ... on Error { code message } } }`
    for (;;) {
      const response = await this.#send<{ result: Partial<Answer<Payload>> & Record<string, unknown> }>(query, {
        input,
      })
      if (response?.data != null) {
        const { code = null, message = null, ...payload } = response.data.result
        return { code, message, payload: payload as Payload }
      }
      this.#tally.unanswered++
      await wait(retryMillis)
    }
  }

  /** Null: there was no answer. */
  async #send<Data>(query: string, variables: Record<string, unknown>): Promise<GraphQLResponse<Data> | null> {
    const client = this.#rng.of(this.#clients)
    const response = await client
      .send<Data>(query, variables, AbortSignal.timeout(answerWithinMillis))
      .catch(() => null)
    const codes = response?.errors.map(({ extensions }) => extensions?.code ?? 'no code') ?? []
    for (const [at, code] of codes.entries()) {
      if (!saysAgain(code))
        this.#tally.fault(`${client.url} answered ${code}: ${response?.errors[at]?.message} (${query})`)
    }
    return response
  }
}

/** The database does not answer the server, or the server was frozen and wakes: another one may answer, or the same one later. */
function saysAgain(code: string): boolean {
  return code.startsWith('DATABASE_') || code === 'UNAVAILABLE'
}

/** The ids of the objects in an answer; all else is read now, and may differ. */
function idsIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return null
  return Object.entries(value).flatMap(([key, part]) => (key === 'id' ? [part] : idsIn(part)))
}
