import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { Content, Overrides } from '../../model/content.ts'
import { ownEnvironment, portVariableFaults } from '../content/environmentChecks.ts'
import { check, invalidInput } from '../kit/check.ts'
import { command, name, whole } from '../kit/values.ts'

const replicas = whole('replicas', bounds.replicas)

const createService = z.object({
  name,
  replicas: replicas.nullish(),
  command: command.nullish(),
  env: ownEnvironment.nullish(),
})

/** What of CreateServiceInput needs no look-up. `replicas` null: the profile's. */
export function checkCreateService(input: unknown): {
  readonly name: string
  readonly replicas: number | null
  readonly overrides: Overrides
} {
  const valid = check(createService, input)
  const env = (valid.env ?? []).map(({ name, value, secret }) => ({
    name,
    value: value ?? null,
    secret: secret ?? false,
  }))
  return { name: valid.name, replicas: valid.replicas ?? null, overrides: { command: valid.command ?? null, env } }
}

/** What can only be judged beside the profile that the service's own environment goes over. */
export function checkMerged(merged: Content, overrides: Overrides): void {
  const issues = portVariableFaults(overrides.env, merged.ports).map(({ path = [], message }) => ({
    path: ['input', 'env', ...path.map(String)],
    message,
  }))
  const { max } = bounds.variables
  if (merged.env.length > max) {
    issues.push({
      path: ['input', 'env'],
      message: `With the profile's there are ${merged.env.length} variables: at most ${max} are allowed.`,
    })
  }
  if (issues.length > 0) throw invalidInput(issues)
}

const scaleService = z.object({ replicas })

export function checkScaleService(input: unknown): { readonly replicas: number } {
  return check(scaleService, input)
}
