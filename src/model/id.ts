declare const kind: unique symbol

/** An id that the compiler does not let pass for another kind's. At run time a UUID (version 7) as text. */
type Id<Kind extends string> = string & { readonly [kind]: Kind }

export type ProjectId = Id<'Project'>
export type QueueId = Id<'Queue'>
export type ProfileId = Id<'Profile'>
export type ProfileRevisionId = Id<'ProfileRevision'>
export type ServiceId = Id<'Service'>
export type VersionId = Id<'ServiceVersion'>
export type RolloutId = Id<'Rollout'>
export type ReplicaId = Id<'Replica'>
export type HostId = Id<'Host'>
export type WorkerId = Id<'Worker'>

/** Position in the fact log. */
export type Revision = bigint

/** An instant of the database's clock, in milliseconds since 1970 (UTC). */
export type Instant = number
