import path from 'node:path'
import type { ReplicaName } from '../assignment.ts'

/** The paths of all files in the state directory. */
export class ReplicaFiles {
  readonly root: string

  /**
   * `root` is the state directory, absolute and without symbolic links, because it is compared with the command lines of
   * processes.
   */
  constructor(root: string) {
    this.root = root
  }

  get replicas(): string {
    return path.join(this.root, 'replicas')
  }

  /** One small file for each end of a process, all in one directory, so that one watch sees them all. */
  get exits(): string {
    return path.join(this.root, 'exits')
  }

  /**
   * The replicas' own directories. They are apart from the worker's records, which no replica may serve or forge.
   */
  get homes(): string {
    return path.join(this.root, 'homes')
  }

  home(replica: ReplicaName): string {
    return path.join(this.homes, replica)
  }

  /** The own directories of replicas that nobody asks for any more, until their files are removed. */
  get removed(): string {
    return path.join(this.root, 'removed')
  }

  /** The directory of the worker's records and logs of a replica. */
  directory(replica: ReplicaName): string {
    return path.join(this.replicas, replica)
  }

  assignment(replica: ReplicaName): string {
    return path.join(this.directory(replica), 'assignment.json')
  }

  state(replica: ReplicaName): string {
    return path.join(this.directory(replica), 'state.json')
  }

  /** Only one can create it: the start itself, which then happens, or a worker that gives the start up. */
  claim(replica: ReplicaName, start: number): string {
    return path.join(this.directory(replica), `claim-${start}`)
  }

  /** Shell lines that let env(1) start the command, with the variables that a shell would change. */
  arguments(replica: ReplicaName): string {
    return path.join(this.directory(replica), 'arguments.sh')
  }

  /** When its starts began and when its logs were seen to grow. */
  marks(replica: ReplicaName): string {
    return path.join(this.directory(replica), 'marks.log')
  }

  /** The service of a replica, so that its logs can be counted with those of its siblings when it has ended. */
  service(replica: ReplicaName): string {
    return path.join(this.directory(replica), 'service')
  }

  exitName(replica: ReplicaName, start: number): string {
    return `${replica}.${start}`
  }

  exit(replica: ReplicaName, start: number): string {
    return path.join(this.exits, this.exitName(replica, start))
  }

  log(replica: ReplicaName, stream: LogStream): string {
    return path.join(this.directory(replica), `${stream}.log`)
  }

  /** The older part of a log, after a rotation. */
  rotatedLog(replica: ReplicaName, stream: LogStream): string {
    return `${this.log(replica, stream)}.1`
  }
}

export const logStreams = ['stdout', 'stderr'] as const
export type LogStream = (typeof logStreams)[number]
