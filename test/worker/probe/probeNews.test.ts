import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReportedProbe } from '../../../src/model/lastProbe.ts'
import { ProbeNews } from '../../../src/worker/probe/probeNews.ts'

/** Results of probes, one in a second, of a process that was there for `ageSeconds` before. */
function newsOf(ageSeconds: number, told: ReportedProbe | null = null) {
  const heard: ReportedProbe[] = []
  let now = 0
  const news = new ProbeNews({ ageSeconds, told, onNews: (probe) => void heard.push(probe), clock: () => now })
  const add = (kind: ReportedProbe['kind'], failure: string | null, seconds = 1): void => {
    now += seconds * 1_000
    news.add(kind, failure)
    news.tell(kind)
  }
  const texts = (): string[] => heard.map(({ kind, message, count }) => `${kind} ${message ?? 'ok'} ${count}`)
  return { news, heard, add, texts }
}

test('a start that is ready within 5 s tells no failures, and a success is told with what is told anyhow', () => {
  const { news, add, texts } = newsOf(0)
  for (let at = 0; at < 4; at++) add('READINESS', 'refused')
  add('READINESS', null)
  expect(news.take('READINESS')).toMatchObject({ kind: 'READINESS', ok: true, message: null, count: 1 })
  for (let at = 0; at < 100; at++) add('READINESS', null)
  expect(texts()).toEqual([])
})

test('a failure is told when it has lasted 5 s, then each time it has doubled; another one at once', () => {
  const { add, texts, heard } = newsOf(0)
  for (let at = 0; at < 45; at++) add('READINESS', 'refused')
  add('READINESS', 'GET / answered 503')
  expect(texts()).toEqual([
    'READINESS refused 5',
    'READINESS refused 10',
    'READINESS refused 20',
    'READINESS refused 40',
    // There was no report left for it until now.
  ])
  for (let at = 0; at < 60; at++) add('READINESS', 'GET / answered 503')
  expect(texts().at(-1)).toMatch(/^READINESS GET \/ answered 503 /)
  expect(heard.at(-1)?.seconds).toBeGreaterThan(0)
})

test('a liveness probe that fails is told before a readiness probe that succeeds, and its recovery too', () => {
  const { add, texts } = newsOf(3_600)
  add('READINESS', null)
  add('LIVENESS', 'did not answer')
  add('READINESS', null)
  add('LIVENESS', null)
  expect(texts()).toEqual(['LIVENESS did not answer 1', 'READINESS ok 2'])
})

test('what a probe said while the program started is not told once another one has seen it there', () => {
  const { add, texts } = newsOf(0)
  add('LIVENESS', 'refused', 0)
  for (let at = 0; at < 20; at++) add('READINESS', null)
  add('LIVENESS', null)
  expect(texts()).toEqual([])
})

test('what an earlier worker has told is not told again', () => {
  const told = { kind: 'READINESS', ok: false, message: 'refused', count: 4, seconds: 9 } as const
  const { add, texts } = newsOf(3_600, told)
  for (let at = 0; at < 7; at++) add('READINESS', 'refused')
  expect(texts()).toEqual([])
  add('READINESS', 'refused')
  add('READINESS', null)
  expect(texts()).toEqual(['READINESS refused 8', 'READINESS ok 1'])
})

test('whatever happens, there are at most 4 reports and one a minute', () => {
  const result = fc.tuple(
    fc.constantFrom('STARTUP' as const, 'READINESS' as const, 'LIVENESS' as const),
    fc.constantFrom(null, 'a', 'b', 'c'),
    fc.integer({ min: 0, max: 30 }),
  )
  fc.assert(
    fc.property(fc.array(result, { maxLength: 300 }), (results) => {
      const { add, heard } = newsOf(0)
      let seconds = 0
      for (const [kind, failure, pause] of results) {
        seconds += pause
        add(kind, failure, pause)
        expect(heard.length).toBeLessThanOrEqual(4 + seconds / 60)
      }
    }),
  )
})

test('a message is cut', () => {
  const { news, add } = newsOf(10)
  add('READINESS', 'x'.repeat(100_000))
  expect(news.take('READINESS')?.message).toHaveLength(300)
})
