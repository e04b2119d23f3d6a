import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openCgroups } from '../../../src/worker/machine/cgroup.ts'
import { ownCgroupOf } from '../../../src/worker/machine/ownCgroup.ts'

const root = '22 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw\n'
const unified =
  '30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n'
const hybrid =
  '32 31 0:29 / /sys/fs/cgroup/cpu-acct rw,relatime - cgroup cgroup rw,cpu\n41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n'
const container =
  '1028 1020 0:26 /docker/abc /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime master:9 shared:11 - cgroup2 cgroup rw\n'
const spaces = '30 23 0:26 / /mnt/my\\040cgroups rw - cgroup2 none rw\n'

test.each([
  [
    'a systemd unit',
    '0::/system.slice/xce-worker.service\n',
    root + unified,
    '/sys/fs/cgroup/system.slice/xce-worker.service',
    false,
  ],
  [
    'a unit with DelegateSubgroup',
    '0::/system.slice/w.service/xce-worker\n',
    root + unified,
    '/sys/fs/cgroup/system.slice/w.service',
    true,
  ],
  ['version 1 beside it', '1:cpu:/a\n0::/job_7\n', root + hybrid, '/sys/fs/cgroup/unified/job_7', false],
  ['the root', '0::/\n', unified, '/sys/fs/cgroup', false],
  ['a container that sees its part', '0::/docker/abc/job\n', root + container, '/sys/fs/cgroup/job', false],
  ['a mount point with a space', '0::/a\n', spaces, '/mnt/my cgroups/a', false],
])('where the worker was started: %s', (_what, cgroup, mountinfo, directory, isInLeaf) => {
  expect(ownCgroupOf(cgroup, mountinfo)).toEqual({ directory, isInLeaf })
})

test.each([
  ['version 1 only', '1:cpu:/a\n', root],
  ['no mount of it', '0::/a\n', root],
  ['another part of it', '0::/a\n', container],
])('none that the worker could use: %s', (_what, cgroup, mountinfo) => {
  expect(ownCgroupOf(cgroup, mountinfo)).toBeNull()
})

test('a systemd unit’s own is not divided, for systemd could not start the worker in it again', () => {
  const parent = realpathSync(mkdtempSync(path.join(tmpdir(), 'xce-cgroup-')))
  onTestFinished(() => rmSync(parent, { recursive: true }))
  const directory = path.join(parent, 'xce-worker.service')
  mkdirSync(path.join(directory, 'xce-worker'), { recursive: true })
  writeFileSync(path.join(directory, 'cgroup.controllers'), 'cpu memory\n')
  writeFileSync(path.join(directory, 'cgroup.procs'), '')
  expect(openCgroups({ directory, isInLeaf: false })).toMatch(/without DelegateSubgroup=xce-worker/)
  expect(openCgroups({ directory, isInLeaf: true })).not.toBeTypeOf('string')
})
