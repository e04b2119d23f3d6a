/**
 * The reason of a worker that ended in order, and of a host that has only such workers. They are LOST to the rules, because
 * nothing can be placed there, and are shown as ENDED, because nothing went wrong.
 */
export const endedReason =
  'The worker has ended, after everything that it ran. The host takes replicas when a worker starts there.'
