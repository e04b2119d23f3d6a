import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { UpdateIntent } from '../../model/intent.ts'
import { ownEnvironment } from '../content/environmentChecks.ts'
import { rolloutOf, rolloutUpdate } from '../content/settingsChecks.ts'
import { check } from '../kit/check.ts'
import { command, whole } from '../kit/values.ts'

const updateService = z.object({
  command: command.nullish(),
  env: ownEnvironment.nullish(),
  replicas: whole('replicas', bounds.replicas).nullish(),
  rollout: rolloutUpdate.nullish(),
})

/** What of UpdateServiceInput needs no look-up. */
export function checkUpdateService(input: unknown): Pick<UpdateIntent, 'overrides' | 'replicas' | 'rollout'> {
  const { command, env, replicas, rollout } = check(updateService, input)
  return {
    overrides: {
      // Null goes back to the profile's command, left out keeps the service's own.
      ...(command === undefined ? {} : { command }),
      ...(env
        ? { env: env.map(({ name, value, secret }) => ({ name, value: value ?? null, secret: secret ?? false })) }
        : {}),
    },
    replicas: replicas ?? null,
    rollout: rolloutOf(rollout),
  }
}
