import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import {
  type CounterName,
  counters,
  feedCounters,
  gauges,
  type HistogramName,
  histograms,
  type Meter,
} from '../model/metrics.ts'

type Reading = number | Readonly<Record<string, number>>

/** Functions that each scrape calls: each returns a number, or one number for each value of the metric's label. */
export type Readers = {
  readonly [Name in keyof typeof gauges | keyof typeof feedCounters]: () => Reading | Promise<Reading>
}

let processMetrics: Registry | null = null

/** The metrics of the process, which its servers share. They are observed from the first scrape on. */
function processRegistry(): Registry {
  if (processMetrics === null) {
    processMetrics = new Registry()
    collectDefaultMetrics({ register: processMetrics })
  }
  return processMetrics
}

/** The metrics of one server, in Prometheus' text format. */
export class Metrics implements Meter {
  readonly #registry = new Registry()
  readonly #counters = new Map<CounterName, Counter>()
  readonly #histograms = new Map<HistogramName, Histogram>()

  constructor() {
    for (const [name, counter] of entriesOf(counters)) this.#counters.set(name, new Counter(this.#optionsOf(counter)))
    for (const [name, histogram] of entriesOf(histograms)) {
      this.#histograms.set(name, new Histogram({ ...this.#optionsOf(histogram), buckets: [...histogram.buckets] }))
    }
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  count(counter: CounterName, by = 1, label?: string): void {
    const { label: name } = asDescribed(counters[counter])
    if (name === undefined || label === undefined) this.#counters.get(counter)?.inc(by)
    else this.#counters.get(counter)?.inc({ [name]: label }, by)
  }

  observe(histogram: HistogramName, value: number): void {
    this.#histograms.get(histogram)?.observe(value)
  }

  /** Adds the metrics that each scrape reads. */
  read(readers: Readers): void {
    for (const [name, gauge] of entriesOf(gauges)) {
      new Gauge({
        ...this.#optionsOf(gauge),
        async collect() {
          const reading = await readers[name]()
          this.reset()
          for (const [labels, value] of readingsOf(gauge, reading)) this.set(labels, value)
        },
      })
    }
    for (const [name, counter] of entriesOf(feedCounters)) {
      new Counter({
        ...this.#optionsOf(counter),
        async collect() {
          const reading = await readers[name]()
          this.reset()
          for (const [labels, value] of readingsOf(counter, reading)) this.inc(labels, value)
        },
      })
    }
  }

  async text(): Promise<string> {
    const [own, process] = await Promise.all([this.#registry.metrics(), processRegistry().metrics()])
    return `${own}${process}`
  }

  #optionsOf(metric: Described) {
    const { name, help, label } = metric
    return { name, help, labelNames: label === undefined ? [] : [label], registers: [this.#registry] }
  }
}

interface Described {
  readonly name: string
  readonly help: string
  readonly label?: string
}

function asDescribed(metric: Described): Described {
  return metric
}

function readingsOf(metric: Described, reading: Reading): [Record<string, string>, number][] {
  if (typeof reading === 'number') return [[{}, reading]]
  return Object.entries(reading).map(([value, number]) => [{ [metric.label ?? 'of']: value }, number])
}

function entriesOf<T extends Record<string, Described>>(metrics: T): [keyof T, T[keyof T]][] {
  return Object.entries(metrics) as [keyof T, T[keyof T]][]
}
