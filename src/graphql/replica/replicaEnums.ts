import type { EndReason as End, LeaveReason as Leave, ReplicaState as State } from '../../generated/prisma/enums.ts'
import { enumOf } from '../kit/enumOf.ts'

export const ReplicaState = enumOf<State>('ReplicaState', 'The states of a replica, which only move forward.', {
  PENDING: 'It is not placed yet; `blocker` says why.',
  STARTING: 'It is placed, and its worker is to start it.',
  RUNNING: 'Its process is confirmed by its worker.',
  STOPPING: 'It is being stopped. It still holds its host, ports and quota.',
  ENDED: 'Its end is confirmed.',
})

export const LogStream = enumOf<'STDOUT' | 'STDERR'>('LogStream', 'A stream of output.', {
  STDOUT: 'Standard output.',
  STDERR: 'Standard error.',
})

export const LeaveReason = enumOf<Leave>(
  'LeaveReason',
  'Why a replica will be replaced although its content is current.',
  {
    DRAIN: 'Its worker or host is being drained.',
    RESTART: 'A restart of the service was asked for.',
    MOVED: 'Its host has another address than when its process was started.',
    REQUEUE: 'A user moves it away from its host with requeueReplica.',
  },
)

export const EndReason = enumOf<End>('EndReason', 'Why a replica ended.', {
  COMPLETED: 'Its process ended with exit code 0, and its restart policy is ON_FAILURE or NEVER.',
  EXITED: 'Its process ended without being told to, and its restart policy does not restart it in place.',
  GAVE_UP: 'It failed more often than its restart policy allows.',
  START_FAILED: 'Its process could not be started.',
  HOST_LOST: 'Its host or worker is gone.',
  KILLED: 'It was stopped by killReplica.',
  SCALED_DOWN: 'Fewer replicas were asked for.',
  REPLACED_BY_ROLLOUT: 'A rollout replaced it.',
  SERVICE_DELETED: 'Its service was deleted.',
  DRAINED: 'Its worker or host was drained.',
  MOVED: 'Its host has another address than when its process was started.',
  REQUEUED: 'A user moved it away from its host with requeueReplica.',
})
