import { errorCodes } from '../../src/graphql/kit/errorCodes.ts'
import { counters, feedCounters, gauges, histograms } from '../../src/model/metrics.ts'

/** The rows that docs/errors.md must have: one for each error code. */
export function errorRows(): readonly (readonly string[])[] {
  return Object.entries(errorCodes).map(([code, { type, status, meaning, remedy }]) => [
    `\`${code}\``,
    type === null ? '' : `\`${type}\``,
    String(status),
    meaning,
    remedy,
  ])
}

/** The rows that docs/metrics.md must have: one for each metric of this product. */
export function metricRows(): readonly (readonly string[])[] {
  const groups = [
    ['counter', counters],
    ['histogram', histograms],
    ['gauge', gauges],
    ['counter', feedCounters],
  ] as const
  return groups.flatMap(([type, metrics]) =>
    Object.values(metrics).map((metric: { name: string; help: string; label?: string }) => [
      `\`${metric.name}\``,
      type,
      metric.label === undefined ? '' : `\`${metric.label}\``,
      metric.help,
    ]),
  )
}
