import type { EndReason as End, LeaveReason as Leave, ReplicaState as State } from '../../generated/prisma/enums.ts'
import { enumOf } from '../kit/enumOf.ts'

export const ReplicaState = enumOf<State>('ReplicaState', 'How far a replica is. It only moves forward.', {
  PENDING: 'Not placed yet: pending says why.',
  STARTING: 'Placed: its worker is to start it.',
  RUNNING: 'Its process is confirmed by its worker.',
  STOPPING: 'It is to end; it still holds host, ports and quota.',
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
    TIME_LIMIT: 'The time limit of its job is near.',
  },
)

export const EndReason = enumOf<End>('EndReason', 'Why a replica ended.', {
  EXITED: 'Its process ended by itself and is not restarted in place, whatever its exit status.',
  GAVE_UP: 'It failed more often than its restart policy allows.',
  START_FAILED: 'Its process could not be started.',
  PORT_TAKEN: 'A port it was given was in use by something else.',
  HOST_LOST: 'Its host or worker is gone.',
  KILLED: 'killReplica.',
  SCALED_DOWN: 'Fewer replicas were asked for.',
  REPLACED_BY_ROLLOUT: 'A rollout replaced it.',
  SERVICE_DELETED: 'Its service was deleted.',
  DRAINED: 'Its worker or host was drained.',
  TIME_LIMIT: 'The time limit of its job was reached.',
})
