declare const kind: unique symbol

/**
 * An id of one kind, which the compiler accepts nowhere as an id of another kind. At run time it is a UUID (version 7)
 * as text.
 */
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

/** A position in the fact log. */
export type Revision = bigint

/** An instant of the database's clock, in milliseconds since 1970 (UTC). */
export type Instant = number
