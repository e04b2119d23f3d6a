import type { SoakOptions, SoakProgress, SoakResult } from './runSoak.ts'
import { growthOf, isSteady } from './size.ts'
import { listed, total } from './tally.ts'

const mostFaults = 20

/** One line of a run that goes on. */
export function progressLine({ seconds, tally, sizes }: SoakProgress): string {
  const size = sizes.at(-1)
  return [
    `${String(seconds).padStart(5)} s`,
    `${tally.done} operations, ${tally.acknowledged} done`,
    `${total(tally.kills)} kills`,
    `${size?.head ?? 0} facts (${size?.facts ?? 0} kept)`,
    `${total(tally.ends)} replicas ended`,
    `${tally.frames} frames`,
    `${(size?.mebibytes ?? 0).toFixed(1)} MiB`,
    `${tally.faults.length} faults`,
  ].join(' · ')
}

/** What a run did, and whether something was wrong. */
export function summary(
  options: Pick<SoakOptions, 'minutes' | 'seed'>,
  { seconds, tally, sizes, directory }: SoakResult,
): { readonly text: string; readonly failed: boolean } {
  const growth = growthOf(sizes)
  const steady = growth === null || isSteady(growth)
  const failed = tally.faults.length > 0 || !steady
  const kinds = [...tally.operations].sort(([a], [b]) => (a < b ? -1 : 1))
  const width = Math.max(0, ...kinds.map(([kind]) => kind.length))
  const step = Math.max(1, Math.floor(sizes.length / 10))
  const over = sizes
    .filter((_, at) => at % step === 0 || at === sizes.length - 1)
    .map(({ mebibytes }) => mebibytes.toFixed(1))
  const lines = [
    `${seconds} s, ${tally.done} operations, ${sizes.at(-1)?.head ?? 0} facts.`,
    '',
    'Operations and answers',
    ...kinds.map(([kind, answers]) => `  ${kind.padEnd(width)}  ${listed(answers)}`),
    `  asked again, because a server did not answer: ${tally.unanswered}`,
    '',
    `Kills             ${listed(tally.kills)}`,
    `Hosts             ${listed(tally.hosts)}`,
    `Replicas ended    ${listed(tally.ends)}`,
    `Subscribers       ${tally.frames} frames, came back ${tally.reconnects} times`,
    `Database          ${over.join(', ')} MiB (${growth === null ? 'too short to judge' : `× ${growth.toFixed(2)} in the last third`})`,
    '',
    `Lost acknowledged mutations: ${tally.lost}`,
    `Invariants broken and other faults: ${tally.faults.length}`,
    ...tally.faults.slice(0, mostFaults).map((fault) => `  ${fault}`),
  ]
  if (!steady) lines.push('The database grows: see what is not trimmed.')
  if (failed) {
    lines.push('', `Again: npm run soak -- --minutes ${options.minutes} --seed ${options.seed}`)
    if (directory !== null)
      lines.push(`Logs of servers and workers, the newest facts, events and replicas: ${directory}`)
  }
  return { text: lines.join('\n'), failed }
}
