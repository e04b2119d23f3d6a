import type { Api } from './api.ts'
import { Load } from './load.ts'
import type { Hello } from './request.ts'

interface Begun {
  readonly rollout: { readonly number: number; readonly to: { readonly number: number } }
}

interface Progress {
  readonly service: {
    readonly rollout: {
      readonly number: number
      readonly state: string
      readonly blocker: { readonly message: string } | null
    }
  }
}

const failed = '... on Error { message }'
const limitMillis = 120_000

/**
 * Updates a service, rolls it back and restarts it while clients request the addresses of `table` as fast as they can.
 * Prints the number of requests; throws when one failed.
 */
export async function rolloutsUnderLoad(
  api: Api,
  name: string,
  command: readonly string[],
  table: () => readonly { readonly hostPort: string }[],
): Promise<void> {
  const load = new Load(table, (body) => `version ${(JSON.parse(body) as Hello).version}`)
  load.start()
  try {
    await rollOut(api, name, 'updateService', { command: [...command, 'two'] })
    await rollOut(api, name, 'rollbackService', {})
    await rollOut(api, name, 'restartService', {})
  } finally {
    await load.stop()
  }
  const answers = [...load.answers]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([version, count]) => `${count} by ${version}`)
  console.log(`${load.requests} requests meanwhile, ${load.failures.length} failed. Answered: ${answers.join(', ')}.`)
  if (load.failures.length > 0) throw new Error(`Requests failed: ${load.failures.slice(0, 5).join('; ')}`)
}

/** Begins a rollout and follows it to its end. Prints what it waits for. */
async function rollOut(
  api: Api,
  name: string,
  mutation: 'updateService' | 'rollbackService' | 'restartService',
  input: Record<string, unknown>,
): Promise<void> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
  const began = performance.now()
  const { rollout } = await api.mutate<Begun>(
    `mutation Roll($input: ${type}Input!) { ${mutation}(input: $input) { ${failed} ... on ${type}Payload { rollout { number to { number } } } } }`,
    { input: { service: { name }, ...input } },
  )
  console.log(`${mutation}: rollout ${rollout.number} to version ${rollout.to.number}`)
  const changes = api.follow<{ serviceChanged: Progress }>(
    'subscription Follow($name: String!) { serviceChanged(service: { name: $name }) { service { rollout { number state blocker { message } } } } }',
    { name },
  )
  const late = setTimeout(() => void changes.return(undefined), limitMillis)
  let lastMessage = ''
  try {
    for await (const { serviceChanged } of changes) {
      const { number, state, blocker } = serviceChanged.service.rollout
      if (number === rollout.number && state === 'COMPLETED') {
        console.log(`It was complete ${(performance.now() - began).toFixed(0)} ms after the call.`)
        return
      }
      if (blocker !== null && blocker.message !== lastMessage) console.log(`  ${blocker.message}`)
      lastMessage = blocker?.message ?? lastMessage
    }
  } finally {
    clearTimeout(late)
  }
  throw new Error(`Rollout ${rollout.number} was not complete within ${limitMillis / 1000} s. ${lastMessage}`)
}
