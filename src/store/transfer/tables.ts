import { isAliveText } from '../database/aliveReplica.ts'
/** How a table is moved. `order` is its primary key. */
export interface TableTransfer {
  readonly table: string
  readonly order: readonly string[]
  /** What is read of it in the dump's transaction; left out: all rows. */
  readonly living?: string
  /** What is read after it, page by page: rows that never change once they are there. */
  readonly history?: string
}

const alive = isAliveText('t')

/** Parents first. */
export const transferred: readonly TableTransfer[] = [
  { table: 'Project', order: ['id'] },
  { table: 'Queue', order: ['id'] },
  { table: 'Profile', order: ['id'] },
  { table: 'ProfileRevision', order: ['id'] },
  { table: 'Host', order: ['id'] },
  { table: 'Worker', order: ['id'] },
  { table: 'HostPort', order: ['hostId', 'port', 'protocol'] },
  { table: 'Service', order: ['id'] },
  { table: 'ServiceVersion', order: ['id'] },
  { table: 'Rollout', order: ['id'] },
  { table: 'Slot', order: ['serviceId', 'index', 'contentNumber'] },
  { table: 'Timer', order: ['serviceId', 'kind'] },
  { table: 'Token', order: ['id'] },
  { table: 'IdempotencyKey', order: ['subject', 'operation', 'key'] },
  { table: 'Replica', order: ['id'], living: alive, history: `NOT ${alive}` },
  { table: 'Event', order: ['revision'], living: 'false', history: 'true' },
]

/** Made anew where the data is loaded: facts begin again, and servers are others. */
export const leftOut: readonly string[] = [
  'Fact',
  'Feed',
  'Batch',
  'Server',
  'ServerLease',
  'TokenChanges',
  '_prisma_migrations',
]
