import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { built } from '../fixtures/built.ts'
import { endProcessesWith } from '../fixtures/processes.ts'
import { until } from '../fixtures/until.ts'

/**
 * A program that npm runs in a process group of its own and in a directory of its own. A signal to the group reaches npm too, which hands it on, so
 * that the program gets it twice within milliseconds: as with systemd, which sends SIGTERM to all of them.
 */
export class NpmGroup {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'xce-group-'))
  output = ''
  #child: ChildProcess | null = null

  constructor() {
    const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      scripts: Record<string, string>
    }
    // The scripts of the product but for their build, which "npm test" has done.
    const withoutBuild = Object.entries(scripts).map(([name, script]) => [
      name,
      script.replace(/^npm .* build && /, ''),
    ])
    const description = { type: 'module', scripts: Object.fromEntries(withoutBuild) }
    writeFileSync(this.file('package.json'), JSON.stringify(description))
    symlinkSync(path.dirname(built('server.js')), this.file('dist'))
  }

  file(name: string): string {
    return path.join(this.directory, name)
  }

  start(script: string, env: NodeJS.ProcessEnv): void {
    const child = spawn('npm', ['run', '--silent', script], {
      cwd: this.directory,
      detached: true,
      env: { PATH: process.env['PATH'], HOME: this.directory, TMPDIR: this.directory, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (this.output += String(data)))
  }

  async says(text: string): Promise<void> {
    await until(() => this.output.includes(text), `it says ${text}`, 100)
  }

  /** Sends a signal to all of the group, and waits until it has ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child?.pid === undefined) throw new Error('It was not started.')
    const exited = once(child, 'exit')
    process.kill(-child.pid, signal)
    await exited
  }

  async clean(): Promise<void> {
    await endProcessesWith(this.directory)
    rmSync(this.directory, { recursive: true, force: true })
  }
}
