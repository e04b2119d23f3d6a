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

/** What is asked at each scrape: a number, or one for each value of the label. */
export type Readers = {
  readonly [Name in keyof typeof gauges | keyof typeof feedCounters]: () => Reading | Promise<Reading>
}

let ofProcess: Registry | null = null

/** Of the process, whatever runs in it; observed from the first scrape on. */
function processRegistry(): Registry {
  if (ofProcess === null) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}

/** The metrics of one server, as Prometheus reads them. */
export class Metrics implements Meter {
  readonly #registry = new Registry()
  readonly #counters = new Map<CounterName, Counter>()
  readonly #histograms = new Map<HistogramName, Histogram>()

  constructor() {
    for (const [name, counter] of entriesOf(counters)) this.#counters.set(name, new Counter(this.#described(counter)))
    for (const [name, histogram] of entriesOf(histograms)) {
      this.#histograms.set(name, new Histogram({ ...this.#described(histogram), buckets: [...histogram.buckets] }))
    }
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  count(counter: CounterName, by = 1, label?: string): void {
    const { label: name } = describedOf(counters[counter])
    if (name === undefined || label === undefined) this.#counters.get(counter)?.inc(by)
    else this.#counters.get(counter)?.inc({ [name]: label }, by)
  }

  observe(histogram: HistogramName, value: number): void {
    this.#histograms.get(histogram)?.observe(value)
  }

  /** Adds what is read at each scrape. */
  read(readers: Readers): void {
    for (const [name, gauge] of entriesOf(gauges)) {
      new Gauge({
        ...this.#described(gauge),
        async collect() {
          const reading = await readers[name]()
          this.reset()
          for (const [labels, value] of labelled(gauge, reading)) this.set(labels, value)
        },
      })
    }
    for (const [name, counter] of entriesOf(feedCounters)) {
      new Counter({
        ...this.#described(counter),
        async collect() {
          const reading = await readers[name]()
          this.reset()
          for (const [labels, value] of labelled(counter, reading)) this.inc(labels, value)
        },
      })
    }
  }

  async text(): Promise<string> {
    const [own, process] = await Promise.all([this.#registry.metrics(), processRegistry().metrics()])
    return `${own}${process}`
  }

  #described(metric: Described) {
    const { name, help, label } = metric
    return { name, help, labelNames: label === undefined ? [] : [label], registers: [this.#registry] }
  }
}

interface Described {
  readonly name: string
  readonly help: string
  readonly label?: string
}

function describedOf(metric: Described): Described {
  return metric
}

function labelled(metric: Described, reading: Reading): [Record<string, string>, number][] {
  if (typeof reading === 'number') return [[{}, reading]]
  return Object.entries(reading).map(([value, number]) => [{ [metric.label ?? 'of']: value }, number])
}

function entriesOf<T extends Record<string, Described>>(metrics: T): [keyof T, T[keyof T]][] {
  return Object.entries(metrics) as [keyof T, T[keyof T]][]
}
