import { bounds } from '../../model/bounds.ts'
import type { RestartPolicy, StopPolicy } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { defaultContent, restartWith, stopWith } from '../../rules/service/defaults.ts'
import { builder } from '../kit/builder.ts'
import type { PartOf } from '../kit/check.ts'
import { whole } from '../kit/values.ts'
import { LostContact, RestartMode } from './content.ts'

const { restart, stop } = defaultContent

export const RestartPolicyInput = builder.inputType('RestartPolicyInput', {
  description: 'Restarts in place.',
  fields: (t) => ({
    mode: t.field({
      type: RestartMode,
      description: `After which ends of its process a replica is restarted in place; ${restart.mode} when left out.`,
    }),
    maxAttempts: t.int(
      whole(
        bounds.restartAttempts,
        'restarts in place',
        (range) =>
          `The most restarts within the window, ${range}; ${restart.maxAttempts} when left out. 0 means that it is never restarted in place.`,
      ),
    ),
    windowSeconds: t.int(
      whole(
        bounds.restartWindowSeconds,
        'the seconds of the window',
        (range) => `The window in seconds, ${range}; ${restart.windowSeconds} when left out.`,
      ),
    ),
    delaySeconds: t.int(
      whole(
        bounds.restartDelaySeconds,
        'the seconds before a restart',
        (range) =>
          `Seconds before each restart, ${range}; ${restart.delaySeconds} when left out. The first restart is made at once.`,
      ),
    ),
  }),
})
type RestartInput = PartOf<RestartPolicy, typeof RestartPolicyInput.$inferInput>

export function restartOf(input: RestartInput | null | undefined): RestartPolicy {
  return restartWith(input ?? {})
}

const signals = ['TERM', 'INT', 'QUIT', 'HUP', 'USR1', 'USR2', 'WINCH', 'ABRT', 'ALRM', 'KILL']
const bare = (signal: string) => signal.replace(/^SIG/, '')

export const StopPolicyInput = builder.inputType('StopPolicyInput', {
  description: 'How replicas are stopped.',
  fields: (t) => ({
    signal: t.string({
      description: `${signals.slice(0, -1).join(', ')} or ${signals.at(-1)}, with or without SIG; ${stop.signal} when left out. All processes of a replica get it.`,
      check: (signal) =>
        signals.includes(bare(signal))
          ? []
          : [{ message: `${quoted(signal)} is no signal to stop a program with: give one of ${signals.join(', ')}.` }],
    }),
    drainSeconds: t.int(
      whole(
        bounds.drainSeconds,
        'the seconds before the signal',
        (range) => `Seconds between leaving the endpoint and the signal, ${range}; ${stop.drainSeconds} when left out.`,
      ),
    ),
    graceSeconds: t.int(
      whole(
        bounds.graceSeconds,
        'the seconds before SIGKILL',
        (range) => `Seconds between the signal and SIGKILL, ${range}; ${stop.graceSeconds} when left out.`,
      ),
    ),
    onLostContact: t.field({
      type: LostContact,
      description: `What the worker does while it cannot reach a server; ${stop.onLostContact} when left out.`,
    }),
  }),
})
type StopInput = PartOf<StopPolicy, typeof StopPolicyInput.$inferInput>

export function stopOf(input: StopInput | null | undefined): StopPolicy {
  return stopWith({ ...input, signal: input?.signal && bare(input.signal) })
}
