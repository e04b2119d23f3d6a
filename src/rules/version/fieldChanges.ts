import type { Content, EnvironmentVariable, Probe } from '../../model/content.ts'
import type { Limit, Settings } from '../../model/settings.ts'

/** One field that two revisions of a profile have differently. Its values are texts; null where the field is not there. */
export interface FieldChange {
  /** Its path as it is written, for example `env.PORT` or `readiness.http.path`. */
  readonly field: string
  readonly before: string | null
  readonly after: string | null
}

export interface Revision {
  readonly content: Content
  readonly settings: Settings
}

/** Longer values are cut. */
const mostCharacters = 200

/** Lists what differs, in the order of the fields. The values of secrets are not shown. */
export function fieldChanges(before: Revision, after: Revision): FieldChange[] {
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((field) => {
    const [one, two] = [was.get(field), is.get(field)]
    if (one?.value === two?.value) return []
    return [{ field, before: one?.shown ?? null, after: two?.shown ?? null }]
  })
}

interface Field {
  /** What is compared. */
  readonly value: string
  readonly shown: string
}

function fieldsOf({ content, settings }: Revision): Map<string, Field> {
  const fields = new Map<string, Field>()
  const put = (name: string, value: unknown, shown: string | null = null) => {
    if (value === null || value === undefined) return
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    fields.set(name, { value: text, shown: shown ?? cut(text) })
  }
  const { command, env, ports, startup, readiness, liveness, restart, stop, ...plain } = content
  put('command', command)
  for (const variable of env)
    put(`env.${variable.name}`, `${variable.secret} ${variable.value}`, shownVariable(variable))
  for (const { name, port, protocol } of ports) put(`ports.${name}`, `${port ?? 'any'}/${protocol}`)
  for (const [name, value] of Object.entries(plain)) put(name, value)
  for (const [name, probe] of Object.entries({ startup, readiness, liveness }))
    for (const [path, value] of probeFields(probe)) put(`${name}.${path}`, value)
  for (const [name, policy] of Object.entries({ restart, stop }))
    for (const [field, value] of Object.entries(policy)) put(`${name}.${field}`, value)
  for (const [path, value] of settingsFields(settings)) put(`serviceDefaults.${path}`, value)
  return fields
}

function shownVariable({ value, secret }: EnvironmentVariable): string {
  return secret ? '(secret)' : cut(value)
}

function probeFields(probe: Probe | null): [string, unknown][] {
  if (probe === null) return []
  const { action, ...times } = probe
  const { kind, ...how } = action
  return [
    ...Object.entries(how).map(([name, value]): [string, unknown] => [`${kind}.${name}`, value]),
    ...Object.entries(times),
  ]
}

function settingsFields(settings: Settings): [string, unknown][] {
  const { replicas, spreadMode, maxPerHost, backoffBaseSeconds, backoffMaxSeconds, backoffResetAfterSeconds } = settings
  const { maxSurge, maxUnavailable, minReadySeconds, progressDeadlineSeconds, autoRollback, watchSeconds } = settings
  return [
    ['replicas', replicas],
    ['spread.mode', spreadMode],
    ['spread.maxPerHost', maxPerHost],
    ['rollout.maxSurge', limitText(maxSurge)],
    ['rollout.maxUnavailable', limitText(maxUnavailable)],
    ['rollout.minReadySeconds', minReadySeconds],
    ['rollout.progressDeadlineSeconds', progressDeadlineSeconds],
    ['rollout.autoRollback', autoRollback],
    ['rollout.watchSeconds', watchSeconds],
    ['backoff.baseSeconds', backoffBaseSeconds],
    ['backoff.maxSeconds', backoffMaxSeconds],
    ['backoff.resetAfterSeconds', backoffResetAfterSeconds],
  ]
}

const limitText = (limit: Limit): string => ('count' in limit ? `${limit.count}` : `${limit.percent}%`)

function cut(text: string): string {
  return text.length > mostCharacters ? `${[...text].slice(0, mostCharacters - 1).join('')}…` : text
}
