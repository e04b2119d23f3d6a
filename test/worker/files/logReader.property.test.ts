import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LogAnswer } from '../../../src/model/replicaLog.ts'
import { withLog } from '../../../src/worker/files/logFiles.ts'
import { LogMarks } from '../../../src/worker/files/logMarks.ts'
import { readLog } from '../../../src/worker/files/logReader.ts'
import { rotateLog } from '../../../src/worker/files/logRotation.ts'
import { logStreams, ReplicaFiles } from '../../../src/worker/files/replicaFiles.ts'
import { logQuestion } from '../../support/fixtures/logAnswers.ts'
import '../../support/fixtures/seed.ts'

const replica = 'Replica_a'

const text = fc
  .array(fc.constantFrom('a', 'bc', 'é', '€', '🙂', '\n', '\n', 'longer than the others'), { maxLength: 30 })
  .map((parts) => parts.join(''))

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('write' as const), stream: fc.constantFrom(...logStreams), text }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('start' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('worker' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rotate' as const), stream: fc.constantFrom(...logStreams) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('read' as const), maxBytes: fc.integer({ min: 4, max: 300 }) }),
  },
)

/** The bytes that the lines stand for. A start that left its line unfinished has no line break there. */
function bytesOf({ runs }: LogAnswer, stream: 'STDOUT' | 'STDERR'): string {
  return runs
    .filter((run) => run.stream === stream)
    .map(({ lines, cut }) => `${lines.join('\n')}${cut ? '' : '\n'}`)
    .join('')
}

test('whoever goes on after each position, wherever the answers were cut, has every byte once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const files = new ReplicaFiles(mkdtempSync(path.join(tmpdir(), 'xce-reader-')))
      mkdirSync(files.directory(replica), { recursive: true })
      let marks = new LogMarks(files)
      const written = { stdout: '', stderr: '' }
      const heard = { stdout: '', stderr: '' }
      let start = 0
      let after: string | null = null
      const starts: number[] = []
      const read = (maxBytes: number, hasEnded: boolean) => {
        const question = logQuestion({ maxBytes, after, tailLines: 0 })
        const answer = withLog(files, marks, replica, (log) => readLog(log, question, hasEnded))
        heard.stdout += bytesOf(answer, 'STDOUT')
        heard.stderr += bytesOf(answer, 'STDERR')
        starts.push(...answer.starts.map((one) => one.start))
        expect(answer.skippedBytes).toBe(0)
        after = answer.position
        return answer
      }
      const begin = () => {
        marks.markStart(replica, ++start)
        // The line of the start before ends here.
        for (const stream of logStreams) if (!/(^|\n)$/.test(written[stream])) written[stream] += '\n'
      }
      begin()
      read(100, false)
      for (const one of steps) {
        if (one.kind === 'write') {
          appendFileSync(files.log(replica, one.stream), one.text)
          written[one.stream] += one.text
        } else if (one.kind === 'start') begin()
        else if (one.kind === 'worker') marks = new LogMarks(files)
        else if (one.kind === 'read') read(one.maxBytes, false)
        else {
          // A rotation that loses nothing: the reader has everything that is not kept then.
          while (read(300, false).runs.length > 0);
          const [log, older] = [files.log(replica, one.stream), files.rotatedLog(replica, one.stream)]
          appendFileSync(log, '')
          const turned = (size: number) => marks.markRotated(replica, one.stream, size)
          await rotateLog(log, older, turned, 60)
        }
      }
      while (read(300, true).state !== 'ENDED');
      for (const stream of logStreams) {
        if (!/(^|\n)$/.test(written[stream])) written[stream] += '\n'
        expect(heard[stream]).toBe(written[stream])
      }
      expect(starts).toEqual(Array.from({ length: start }, (_, index) => index + 1))
      rmSync(files.root, { recursive: true })
    }),
    { numRuns: 150 },
  )
})
