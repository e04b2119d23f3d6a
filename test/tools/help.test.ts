import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { built } from '../support/fixtures/built.ts'

// Each program is started twice.
vi.setConfig({ testTimeout: 60_000 })

const source = (file: string) => fileURLToPath(new URL(`../../src/${file}`, import.meta.url))
const tool = (file: string) => [source('tools/run.mjs'), source(`tools/${file}`)]

/** Every program that people start, as npm starts it. */
const programs: Readonly<Record<string, readonly string[]>> = {
  server: [built('server.js')],
  worker: [built('worker.js')],
  demo: [built('demo.js')],
  simulate: [built('simulate.js')],
  dump: [built('tools/dump.js')],
  load: [built('tools/load.js')],
  restored: [built('tools/restored.js')],
  migrations: tool('migrations.ts'),
  schema: tool('printSchema.ts'),
  run: [source('tools/run.mjs')],
  build: [source('tools/build.mjs')],
  generate: [source('tools/generate.mjs')],
  check: [source('tools/check.mjs')],
  dev: [source('tools/dev.mjs')],
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, words, { env: { PATH: process.env['PATH'] } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

test.each(Object.entries(programs))(
  '%s prints its help, and refuses a wrong option without a stack',
  async (_name, words) => {
    const [help, wrong] = await Promise.all([run([...words, '--help']), run([...words, '--hlep'])])
    expect(help).toMatchObject({ code: 0, stdout: expect.stringMatching(/\w+ .*\w+/), stderr: '' })
    expect([1, 2]).toContain(wrong.code)
    expect(wrong.stdout).toBe('')
    expect(wrong.stderr).toMatch(/\S/)
    expect(wrong.stderr).not.toMatch(/^ {4}at |node:internal/m)
  },
)
