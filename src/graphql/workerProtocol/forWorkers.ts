/** The options of a root field of the worker's protocol: it is in the worker's schema alone, and needs the role worker. */
export const forWorkers = {
  skipTypeScopes: true,
  authScopes: { worker: true },
  extensions: { ofWorkers: true },
} as const
