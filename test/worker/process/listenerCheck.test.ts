import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { parseSockets } from '../../../src/worker/machine/sockets.ts'
import { judgeListeners, type Listening } from '../../../src/worker/process/listenerCheck.ts'
import { assignmentOf, httpProbe, Supervision } from '../../support/drivers/supervision.ts'
import { freePort } from '../../support/fixtures/freePort.ts'
import { endProcessesWith, program } from '../../support/fixtures/processes.ts'
import { until } from '../../support/fixtures/until.ts'

const port = { name: 'http', port: 20_001, protocol: 'TCP' as const }

test('the kernel’s tables: listeners of both protocols, and no connections', () => {
  const text = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 00000000:4E21 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0',
    '   1: 0100007F:4E21 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 20 4 30 10 -1',
    '   2: 00000000000000000000000000000000:0035 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0000000000000000 100 0 0 10 0',
    '',
  ].join('\n')
  expect(parseSockets(text, 'TCP')).toEqual([
    { port: 20_001, inode: 4711, uid: 1000 },
    { port: 53, inode: 4713, uid: 0 },
  ])
  const udp = text.replaceAll(' 0A ', ' 07 ')
  expect(parseSockets(udp, 'UDP').map(({ inode }) => inode)).toContain(4711)
})

describe('who listens', () => {
  const owner = (is: Listening['owners'][number]['is'], name = 'nginx') => ({ pid: 7, name, is })
  const look = (...owners: Listening['owners']) => judgeListeners([{ port, owners, uids: [1000] }])

  test.each([
    ['nobody yet', []],
    ['the replica itself', [{ port, owners: [owner('own')], uids: [1000] }]],
    ['the replica beside another', [{ port, owners: [owner('other'), owner('own')], uids: [1000] }]],
  ] as const)('%s: it is ready', (_, found) => {
    expect(judgeListeners(found)).toEqual({ fault: null, note: null })
  })

  test('another program: it is not ready', () => {
    expect(look(owner('other'))).toEqual({
      fault: 'process 7 (nginx), which is not of this replica, listens on its port "http" (TCP 20001)',
      note: null,
    })
  })

  test('somebody who cannot be seen, or a container: it is ready, and that is said', () => {
    expect(look().note).toBe(
      'It is taken for ready, although the worker cannot see for whom the listener works on "http" (TCP 20001) (a process of user 1000).',
    )
    expect(look(owner('ofContainer', 'docker-proxy'))).toMatchObject({
      fault: null,
      note: expect.stringContaining('(process 7, docker-proxy)'),
    })
  })
})

describe('a replica', () => {
  let supervision: Supervision
  beforeEach(() => {
    supervision = new Supervision()
  })
  afterEach(() => supervision.dispose())

  const tcp = httpProbe({ action: { kind: 'tcp', port: 'http' } })

  test.each([
    ['itself', program('http-server')],
    ['by a child in another session', ['sh', '-c', `setsid "${program('http-server').join('" "')}" & wait`]],
  ])('that listens %s is ready', async (_, command) => {
    const ports = [{ ...port, port: await freePort() }]
    const assignment = assignmentOf({ command, ports, readiness: tcp })
    supervision.supervisor.assign(assignment)
    const report = await supervision.report(assignment.replica, { ready: true })
    expect(report.message).toBeNull()
    await endProcessesWith(assignment.replica)
  })

  test('whose probe is answered by another program is not ready, and says who that is', async () => {
    const number = await freePort()
    const assignment = assignmentOf({ ports: [{ ...port, port: number }], readiness: tcp })
    supervision.supervisor.assign(assignment)
    await supervision.report(assignment.replica, { state: 'RUNNING' })
    const [file = '', ...words] = program('http-server')
    const other = spawn(file, words, { env: { ...process.env, PORT: String(number) }, stdio: 'ignore' })
    onTestFinished(() => void other.kill('SIGKILL'))
    const fault = `process ${other.pid} (node), which is not of this replica, listens on its port "http" (TCP ${number})`
    await until(
      () => supervision.log.some(({ msg }) => msg === `It is not ready: ${fault}.`),
      'the worker’s log says so',
    )
    const { probe } = await until(
      () => supervision.reports.find((report) => report.probe?.ok === false && report.probe.message === fault),
      'a report says so',
    )
    expect(probe?.kind).toBe('READINESS')
    expect(supervision.story(assignment.replica).filter((said) => said.includes('ready'))).toEqual([])
    other.kill('SIGKILL')
    await once(other, 'exit')
  })
})
