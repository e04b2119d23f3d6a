import { z } from 'zod'
import { bounds } from '../../model/bounds.ts'
import type { RestartPolicy, StopPolicy } from '../../model/content.ts'
import { quoted } from '../../model/quoted.ts'
import { restartWith, stopWith } from '../../rules/service/defaults.ts'
import { faultless, whole } from '../kit/values.ts'

export const restart = z.object({
  maxAttempts: whole('restarts in place', bounds.restartAttempts).nullish(),
  windowSeconds: whole('the seconds of the window', bounds.restartWindowSeconds).nullish(),
  delaySeconds: whole('the seconds before a restart', bounds.restartDelaySeconds).nullish(),
})

const signals = ['TERM', 'INT', 'QUIT', 'HUP', 'USR1', 'USR2', 'WINCH', 'ABRT', 'ALRM', 'KILL']

const signal = faultless(z.string(), (text) =>
  signals.includes(bare(text))
    ? []
    : [{ message: `${quoted(text)} is no signal to stop a program with: give one of ${signals.join(', ')}.` }],
)

function bare(text: string): string {
  return text.replace(/^SIG/, '')
}

export const stop = z.object({
  signal: signal.nullish(),
  drainSeconds: whole('the seconds before the signal', bounds.drainSeconds).nullish(),
  graceSeconds: whole('the seconds before SIGKILL', bounds.graceSeconds).nullish(),
  onLostContact: z.enum(['KEEP', 'STOP']).nullish(),
})

export function restartOf(input: z.output<typeof restart> | null | undefined): RestartPolicy {
  return restartWith(input ?? {})
}

export function stopOf(input: z.output<typeof stop> | null | undefined): StopPolicy {
  return stopWith({ ...input, signal: input?.signal && bare(input.signal) })
}
