import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { Overrides } from '../../model/content.ts'
import { ownEnvironment } from '../content/environmentChecks.ts'
import { check } from '../kit/check.ts'
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

const scaleService = z.object({ replicas })

export function checkScaleService(input: unknown): { readonly replicas: number } {
  return check(scaleService, input)
}
