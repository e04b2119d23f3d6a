/** Resolves like the promise, or rejects when `signal` aborts first. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let onAbort = (): void => undefined
  try {
    return await Promise.race([
      promise,
      new Promise<never>((_resolve, reject) => {
        onAbort = () => reject(signal.reason)
        signal.addEventListener('abort', onAbort, { once: true })
      }),
    ])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Resolves with whether the promise resolves within the time. Rejects when `signal` aborts. */
export async function within(promise: Promise<unknown>, millis: number, signal: AbortSignal): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), millis)
  })
  try {
    return await orAbort(Promise.race([promise.then(() => true), late]), signal)
  } finally {
    clearTimeout(timer)
  }
}
